"""A workload as a section of a report: tables, pictures, and how to read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from analysis.inspection import Fitted, Inspection
from analysis.plots.arrivals import dispersion_curve, rate_over_time
from analysis.plots.distributions import gap_tail, length_distributions
from analysis.report.pictures import Picture
from analysis.report.section import Section
from analysis.tables import Table
from analysis.text import ABSENT, number
from analysis.time_unit import TimeUnit
from serving_sim.columns import IntArray
from serving_sim.request import exact_sum

_TITLES = {"length": "length", "prompt_tokens": "prompt", "output_tokens": "output"}

_FACTS = {
    "requests": "requests",
    "tokens": "sum of lengths (tokens)",
    "length_mean": "mean length (tokens)",
    "length_min": "least length (tokens)",
    "length_p50": "p50 of the length (tokens)",
    "length_p90": "p90 of the length (tokens)",
    "length_p99": "p99 of the length (tokens)",
    "length_max": "largest length (tokens)",
    "first_release": "first release ({times})",
    "last_release": "last release ({times})",
    "rate": "rate (requests per {time})",
    "peak_second": "most requests in a {second}",
    "gap_cv2": "SCV of the gaps (1 for Poisson arrivals)",
    "longest_gap": "longest gap ({times})",
    "same_release": "requests released with the one before",
    "most_at_once": "most requests on one release",
    "load": "load on the slots",
}
"""Titles of the facts, each with the unit of its value."""

_PROCESSES = {
    "exponential": ("poisson", {}),
    "gamma": ("gamma", {"shape": "burstiness"}),
    "weibull": ("weibull", {"shape": "shape"}),
}
"""By family of gaps, the process that ``--arrivals`` calls so, and its names for the parameters."""

_TOGETHER = 0.05
"""Share of gaps of 0 above which no process is named: those fitted have none, and so are as far off."""

_MOSTLY_PROMPTS = (
    "most tokens are of prompts, and lengths and load count each of them as a step: see --prefill-chunk"
)


def fact_titles(time_unit: TimeUnit) -> dict[str, str]:
    """What each fact of an inspection is called, by its key."""
    second, _ = time_unit.as_seconds()
    units = {"times": time_unit.plural, "time": time_unit.singular, "second": second.singular}
    return {name: time_unit.in_service(title).format_map(units) for name, title in _FACTS.items()}


def inspection_tables(found: Inspection, *, time_unit: TimeUnit) -> list[Table]:
    """Facts, burstiness by time scale, and fitted families; tables without rows are left out."""
    tables = [
        _facts_table(found, time_unit),
        _dispersion_table(found, time_unit),
        _gaps_table(found, time_unit),
        _lengths_table(found.length_fits, time_unit),
    ]
    return [table for table in tables if table.rows]


def inspection_section(found: Inspection, *, title: str, time_unit: TimeUnit) -> Section:
    """The page of ``workload inspect``."""
    order = (
        "Arrivals first: how many requests come when, how clustered they are on each time scale, and how "
        "long the gaps between them are. Then how long requests are, in tokens."
    )
    fits = (
        "The Kolmogorov-Smirnov distance of a fitted family is the largest difference between its "
        "distribution function and that of the data: at 0.05 no share is off by more than 5 percentage "
        "points. Of two families fitted to the same data the one with the smaller AIC tells more. A fit "
        "of the gaps says nothing of their order: where the dispersion goes on rising with the window, "
        "independent gaps of any family are calmer than these arrivals."
    )
    return Section(
        "inspect",
        title,
        (time_unit.in_service(order), fits),
        _findings(found, time_unit),
        inspection_tables(found, time_unit=time_unit),
        inspection_pictures(found, time_unit=time_unit),
    )


def inspection_pictures(found: Inspection, *, time_unit: TimeUnit) -> list[Picture]:
    """Rate, dispersion, gaps and lengths; those that need different releases only where there are some."""
    pictures = [
        Picture(
            "lengths",
            "How long requests are",
            "Share of requests up to each length, and the same of the families fitted to them.",
            length_distributions(found.lengths, found.length_fits),
        )
    ]
    if found.gap_fits:
        gaps = Picture(
            "gaps",
            "Gaps between requests",
            "Share of the gaps that are longer than the value below, on logarithmic scales, and the same "
            "of the fitted families. A line below the data has too few long gaps.",
            gap_tail(found.release, found.gap_fits, time_unit=time_unit),
        )
        pictures.insert(0, gaps)
    if found.dispersion:
        dispersion = Picture(
            "dispersion",
            "Burstiness by time scale",
            "Variance over mean of the number of requests in a window, against its width. Poisson arrivals "
            "have 1 at every width; a line that goes on rising has bursts on every scale.",
            dispersion_curve(found.dispersion, time_unit=time_unit),
        )
        pictures.insert(0, dispersion)
    if found.facts["rate"] is not None:
        rate = Picture(
            "rate-over-time",
            "Arrivals over time",
            "Requests per unit of time, in bins of equal width; a begun one at the end is left out.",
            rate_over_time(found.release, time_unit=time_unit),
        )
        pictures.insert(0, rate)
    return pictures


def _facts_table(found: Inspection, time_unit: TimeUnit) -> Table:
    titles = fact_titles(time_unit)
    rows = [(titles[name], number(value)) for name, value in found.facts.items()]
    rows += [
        (f"rank correlation, {name.replace('_', ' ')}", number(value))
        for name, value in found.correlations.items()
    ]
    notes = [_MOSTLY_PROMPTS] if _mostly_prompts(found.lengths) else []
    return Table("the workload", ("", "value"), rows, notes=notes)


def _mostly_prompts(lengths: Mapping[str, IntArray]) -> bool:
    """Whether the lengths count all tokens, those of outputs the smaller part."""
    counted, prompts, outputs = (exact_sum(lengths[name]) if name in lengths else 0 for name in _TITLES)
    return prompts > outputs and prompts + outputs == counted


def _dispersion_table(found: Inspection, time_unit: TimeUnit) -> Table:
    shown, factor = time_unit.as_seconds()
    rows = [
        (number(each.width * factor), f"{each.windows:,}", number(each.mean), number(each.index))
        for each in found.dispersion
    ]
    title = (
        "burstiness by time scale, variance / mean of the count in a window (1 for Poisson); "
        f"windows in {shown.plural}"
    )
    return Table(title, ("window", "windows", "mean count", "variance / mean"), rows)


def _gaps_table(found: Inspection, time_unit: TimeUnit) -> Table:
    processes = [_process(fitted, found) for fitted in found.gap_fits]
    rows = [
        (each.family, _parameters(each), number(each.distance), number(each.aic), process or ABSENT)
        for each, process in zip(found.gap_fits, processes, strict=True)
    ]
    title = f"families fitted to the gaps above 0, closest first; means in {time_unit.plural}"
    header = ("family", "parameters", "KS distance", "AIC", "--arrivals of that shape, at the rate above")
    notes = [] if any(processes) else [_together(found)]
    return Table(title, header, rows, notes=notes)


def _process(fitted: Fitted, found: Inspection) -> str | None:
    """The process to type for a fitted family; None where gaps of no such process are like these."""
    rate = found.facts["rate"]
    return None if rate is None or _share_together(found) > _TOGETHER else as_arrivals(fitted, rate)


def _share_together(found: Inspection) -> float:
    """Share of the gaps that are 0."""
    return (found.facts["same_release"] or 0) / max(1, len(found.release) - 1)


def _together(found: Inspection) -> str:
    share = _share_together(found)
    return f"{100 * share:.3g} % of the gaps are 0, as in no process that --arrivals could fit to the others"


def as_arrivals(fitted: Fitted, rate: float) -> str:
    """The shape of fitted gaps at a rate, as ``--arrivals`` takes it, both to four digits.

    The mean of the fit is not used: it is that of the gaps above 0, and where a family is not close not
    even theirs.
    """
    process, names = _PROCESSES[fitted.family]
    shapes = (f",{name}={fitted.parameters[key]:.4g}" for key, name in names.items())
    return f"{process}:rate={rate:.4g}{''.join(shapes)}"


def _lengths_table(fits: Mapping[str, Sequence[Fitted]], time_unit: TimeUnit) -> Table:
    rows = [
        (_TITLES[name], fitted.family, _parameters(fitted), number(fitted.distance), number(fitted.aic))
        for name, each in fits.items()
        for fitted in each
    ]
    title = f"fitted families, closest first: {time_unit.in_service('lengths in tokens')}"
    return Table(title, ("", "family", "parameters", "KS distance", "AIC"), rows)


def _parameters(fitted: Fitted) -> str:
    return ", ".join(f"{name} {number(value)}" for name, value in fitted.parameters.items())


def _findings(found: Inspection, time_unit: TimeUnit) -> list[str]:
    facts = {name: number(value) for name, value in found.facts.items()}
    second, _ = time_unit.as_seconds()
    size = (
        f"{facts['requests']} requests of {facts['length_mean']} steps on average "
        f"(median {facts['length_p50']}, longest {facts['length_max']}); load on the slots: {facts['load']}"
    )
    pace = (
        f"most requests in a {second.singular}: {facts['peak_second']}; longest gap: "
        f"{facts['longest_gap']} {time_unit.plural}; released with the one before: {facts['same_release']}"
    )
    texts = [size, pace]
    if found.gap_fits:
        best = found.gap_fits[0]
        process = _process(best, found)
        advice = _together(found) if process is None else f"at this rate --arrivals {process}"
        texts.append(
            f"closest family for the gaps above 0: {best.family} ({_parameters(best)}), "
            f"KS distance {number(best.distance)}; {advice}"
        )
    if found.dispersion:
        first, last = found.dispersion[0], found.dispersion[-1]
        texts.append(
            f"variance / mean of counts: {number(first.index)} in the narrowest window, "
            f"{number(last.index)} in the widest"
        )
    return texts
