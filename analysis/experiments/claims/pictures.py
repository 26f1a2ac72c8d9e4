"""Counterexamples as Gantt charts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from analysis.experiments.claims.claim import Counterexample, Finding, Schedule
from analysis.plots import Figure, save_figure
from analysis.plots.gantt import Bars, gantt


def picture_name(finding: Finding) -> str:
    """File name without suffix, such as ``theorem-3-9``."""
    return re.sub(r"[^a-z0-9]+", "-", finding.claim.name.lower()).strip("-")


def draw_counterexamples(findings: Iterable[Finding], folder: Path) -> None:
    """Write a picture of every counterexample as PNG and SVG, the schedule above the optimum."""
    for finding in findings:
        example = finding.verdict.counterexample
        if example is not None:
            save_figure(counterexample_figure(example), folder / picture_name(finding))


def counterexample_figure(example: Counterexample) -> Figure:
    """The schedule of the policy and, where the claim is about it, an optimal one."""
    shown = [example.played] if example.best is None else [example.played, example.best]
    panels = [_bars(schedule, example) for schedule in shown]
    return gantt(panels, slots=example.instance.slots, alpha=example.instance.alpha)


def _bars(schedule: Schedule, example: Counterexample) -> Bars:
    title = f"{schedule.title}: {schedule.makespan} steps"
    return Bars(title, schedule.start, schedule.slot, example.instance.lengths)
