"""Counterexamples as Gantt charts."""

from __future__ import annotations

import re
from collections.abc import Iterable

from analysis.experiments.claims.cases import Case
from analysis.experiments.claims.claim import Counterexample, Finding, Schedule
from analysis.experiments.claims.verdicts import described, numbers
from analysis.plots import Figure
from analysis.plots.gantt import Bars, gantt
from analysis.report import Picture


def picture_name(finding: Finding) -> str:
    """File name without suffix, such as ``theorem-3-9``."""
    return re.sub(r"[^a-z0-9]+", "-", finding.claim.name.lower()).strip("-")


def counterexample_pictures(findings: Iterable[Finding]) -> dict[str, Picture]:
    """A picture of every counterexample by the name of its claim, the schedule above the optimum."""
    return {
        finding.claim.name: Picture(
            picture_name(finding), finding.claim.name, reading(example), counterexample_figure(example)
        )
        for finding in findings
        if (example := finding.verdict.counterexample) is not None
    }


def counterexample_figure(example: Counterexample) -> Figure:
    """The schedule of the policy and, where the claim is about it, an optimal one."""
    shown = [example.played] if example.best is None else [example.played, example.best]
    panels = [_bars(schedule, example) for schedule in shown]
    return gantt(panels, slots=example.instance.slots, alpha=example.instance.alpha)


def reading(example: Counterexample) -> str:
    """The instance and its schedules in words."""
    what = described(Case(example.instance, example.upper))
    starts = f"Starts of {example.played.title}: {numbers(example.played.start)}"
    return f"{what[:1].upper()}{what[1:]}. {starts}; {_end(example)}"


def _end(example: Counterexample) -> str:
    if example.best is None:
        return f"{example.played.makespan} steps."
    return (
        f"{example.played.makespan} steps. Starts of a shortest alpha-fair schedule: "
        f"{numbers(example.best.start)}; {example.best.makespan} steps."
    )


def _bars(schedule: Schedule, example: Counterexample) -> Bars:
    title = f"{schedule.title}: {schedule.makespan} steps"
    return Bars(title, schedule.start, schedule.slot, example.instance.lengths)
