"""Which pictures a comparison has, and what each shows in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from analysis.compare import Comparison
from analysis.definitions import REQUEST_METRICS, definition
from analysis.outcome import Outcome
from analysis.plots import (
    Bins,
    Figure,
    latency_against_length,
    latency_tail,
    length_bins,
    load_over_time,
    quantile_bars,
    save_figure,
    to_svg,
)
from analysis.time_unit import TimeUnit


@dataclass(frozen=True)
class Picture:
    """One figure.

    Attributes
    ----------
    name : str
        File name without suffix.
    title : str
        Heading in the report.
    reading : str
        How to read it, which is also its text alternative.
    figure : Figure
        The drawing.
    """

    name: str
    title: str
    reading: str
    figure: Figure

    @cached_property
    def svg(self) -> str:
        """The drawing as SVG text, drawn once for the page and for its file."""
        return to_svg(self.figure)

    def save(self, folder: Path) -> None:
        """Write the drawing to ``folder`` as PNG and SVG."""
        save_figure(self.figure, folder / self.name, self.svg)


def comparison_picture_names() -> set[str]:
    """File names without suffix of all pictures that a comparison may have of its metrics."""
    kinds = ("quantiles", "tail", "by-length")
    return {f"{metric.key.replace('_', '-')}-{kind}" for metric in REQUEST_METRICS for kind in kinds}


def comparison_pictures(comparison: Comparison, *, time_unit: TimeUnit, warmup: int) -> list[Picture]:
    """Draw a comparison: three pictures a metric with values, slowdown by length, and the load over time."""
    outcomes = comparison.outcomes
    bins = length_bins(outcomes[0], warmup)
    pictures = []
    for metric in comparison.metrics:
        if not any(summary.metrics[metric].count for summary in outcomes[0].summaries):
            continue  # and so under every policy: which requests have a value depends on them alone
        title = definition(metric).title
        name = metric.replace("_", "-")
        pictures += [
            Picture(
                f"{name}-quantiles",
                f"Mean and quantiles of the {title}",
                "One panel a statistic, one bar a policy. The thin line at the end of a bar is the 95 % "
                "interval; where it is missing the run is too short for one.",
                quantile_bars(outcomes, metric, time_unit=time_unit),
            ),
            Picture(
                f"{name}-tail",
                f"Tail of the {title}",
                f"Share of requests whose {title} is at least as large as the value below, on a "
                "logarithmic scale. The line that ends furthest right has the slowest request. Where "
                "latencies too are on a logarithmic scale it begins with the fastest hundredth of the "
                "quickest policy.",
                latency_tail(outcomes, metric, time_unit=time_unit, warmup=warmup),
            ),
            _by_length(outcomes, metric, bins, time_unit, warmup),
        ]
    if "slowdown" not in comparison.metrics:
        pictures.append(_by_length(outcomes, "slowdown", bins, time_unit, warmup))
    load = Picture(
        "load-over-time",
        "Waiting and active requests over time",
        "On the left the requests that wait, on the right those in the batch, one strip a policy and all "
        "of a column on the same scale. On the right a full strip is a full batch.",
        load_over_time(outcomes, time_unit=time_unit),
    )
    return [*pictures, load]


def _by_length(
    outcomes: Sequence[Outcome], metric: str, bins: Bins, time_unit: TimeUnit, warmup: int
) -> Picture:
    return Picture(
        f"{metric.replace('_', '-')}-by-length",
        f"The {definition(metric).title} against request length",
        "Median and 95th percentile among requests of about the same length, one line a policy.",
        latency_against_length(outcomes, metric, bins, time_unit=time_unit, warmup=warmup),
    )
