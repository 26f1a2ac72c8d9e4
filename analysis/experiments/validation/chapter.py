"""One kind of theory and the systems it is held against."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from analysis.experiments.reproduce.task import Task
from analysis.experiments.validation.settings import Settings


@dataclass(frozen=True)
class Chapter:
    """A part of the validation.

    Attributes
    ----------
    name, title : str
        Anchor and heading.
    measures : str
        What is compared and why it must agree.
    tasks : callable
        What to simulate; each task returns rows of `Check`.
    absent : callable
        Why the chapter cannot be run here; None where it can.
    """

    name: str
    title: str
    measures: str
    tasks: Callable[[Settings], Sequence[Task]]
    absent: Callable[[], str | None] = lambda: None
