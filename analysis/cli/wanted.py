"""From options to what is measured, and how precisely."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.cli.options import Progress, StatisticsOptions, WorkloadOptions
from analysis.cli.parsing import parse_objectives, parse_percentiles, parse_targets, parse_warmup

if TYPE_CHECKING:
    from analysis.sequential import Target


@dataclass(frozen=True)
class Wanted:
    """What is measured, and how precisely."""

    percentiles: tuple[float, ...]
    objectives: dict[str, float] | None
    warmup: int | None
    """None where the runs decide."""
    targets: tuple[Target, ...]
    most_replications: int
    audited_chunk: int | None
    """Tokens of a prompt that a step reads, where gaps are audited in tokens, too."""


def parse_wanted(statistics: StatisticsOptions, workload: WorkloadOptions) -> Wanted:
    """Parse what cannot be before anything is read or run.

    Raises
    ------
    ValueError
        If an option is refused.
    """
    from analysis.goodput import check_objectives
    from analysis.sequential import check_targets
    from analysis.statistic import quantiles

    percentiles = parse_percentiles(statistics.percentiles)
    targets = parse_targets(statistics.until)
    check_targets(targets, [each.name for each in quantiles(percentiles)])
    objectives = parse_objectives(statistics.goodput)
    check_objectives(objectives or {})
    return Wanted(
        percentiles=percentiles,
        objectives=objectives,
        warmup=parse_warmup(statistics.warmup),
        targets=targets,
        most_replications=statistics.max_replications,
        audited_chunk=_audited_chunk(workload, statistics),
    )


def _audited_chunk(workload: WorkloadOptions, statistics: StatisticsOptions) -> int | None:
    if statistics.progress is Progress.STEPS:
        return None
    if workload.prefill_chunk is None:
        raise ValueError(
            "--progress=tokens: needs --prefill-chunk, which says how many tokens of a prompt a step reads"
        )
    return workload.prefill_chunk
