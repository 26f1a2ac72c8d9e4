"""Simulate everything and hold it against theory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from analysis.experiments.reproduce.task import collect
from analysis.experiments.validation import (
    erlang,
    identity,
    independent,
    insensitivity,
    limits,
    priorities,
    waiting,
)
from analysis.experiments.validation.chapter import Chapter
from analysis.experiments.validation.check import Check
from analysis.experiments.validation.little import LAW
from analysis.experiments.validation.settings import Settings

CHAPTERS: tuple[Chapter, ...] = tuple(
    module.CHAPTER for module in (waiting, identity, erlang, priorities, limits, insensitivity, independent)
)
"""In the order of the page, before Little's law."""

_LITTLE = Chapter(
    "little",
    "Little's law",
    "In every run of every system the mean number of requests, walked from event to event, is their rate "
    "times their mean latency. A run begins and ends empty, so the two are equal but for rounding in any "
    "schedule, right or wrong: this checks the books, that no request and no time is lost, and is not "
    "counted among the numbers that theory knows.",
    lambda _: [],
)


@dataclass(frozen=True)
class Finding:
    """A chapter and what came of it.

    Attributes
    ----------
    chapter : Chapter
        What was compared.
    checks : sequence of Check
        Empty where the chapter could not be run here.
    """

    chapter: Chapter
    checks: Sequence[Check]

    @property
    def identity(self) -> bool:
        """Whether the checks hold in any schedule, so that they are none of the simulator's theory."""
        return self.chapter is _LITTLE

    @property
    def met(self) -> int:
        """Checks that are passed."""
        return sum(check.met for check in self.checks)


def count_tasks(settings: Settings) -> int:
    """Systems to simulate."""
    return sum(len(chapter.tasks(settings)) for chapter in CHAPTERS)


def validate(settings: Settings, *, folder: Path, jobs: int, done: Callable[[str], None]) -> list[Finding]:
    """Run all chapters.

    Parameters
    ----------
    settings : Settings
        How much to simulate.
    folder : Path
        Where finished systems are kept, in ``kept``: what is there from an earlier run with the same
        settings is not simulated again.
    jobs : int
        Processes.
    done : callable
        Told the name of each system that is done.
    """
    tasks = {chapter.name: chapter.tasks(settings) for chapter in CHAPTERS}
    everything = [task for each in tasks.values() for task in each]
    rows = collect(everything, folder=folder / "kept", jobs=jobs, done=done)
    checks = {
        chapter: [Check.from_row(row) for task in tasks[chapter.name] for row in rows[task.name]]
        for chapter in CHAPTERS
    }
    findings = [
        Finding(chapter, [check for check in each if not _is_little(check)])
        for chapter, each in checks.items()
    ]
    return [
        *findings,
        Finding(_LITTLE, [check for each in checks.values() for check in each if _is_little(check)]),
    ]


def _is_little(check: Check) -> bool:
    return check.quantity.startswith(LAW)
