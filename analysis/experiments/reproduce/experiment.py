"""What an experiment is: tasks that can be done apart, and what to make of their results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from analysis.experiments.reproduce.task import Rows, Task
from analysis.output import write_frame
from analysis.report import Section


@dataclass(frozen=True)
class Settings:
    """How much to simulate.

    Attributes
    ----------
    seed : int
        Where all randomness comes from.
    sets : int
        Sets of five replications of the profit experiment, and samples of the length distribution, >= 2.
    replications : int
        Replications of the experiments on arrivals, >= 2.
    requests : int
        Requests of a replication of the experiments on arrivals.
    """

    seed: int = 0
    sets: int = 100
    replications: int = 10
    requests: int = 2000

    def __post_init__(self) -> None:
        if self.seed < 0:
            raise ValueError(f"seed={self.seed!r}: must be a whole number >= 0")
        for name in ("sets", "replications"):
            if getattr(self, name) < 2:
                raise ValueError(f"{name}={getattr(self, name)!r}: must be at least 2, an interval needs two")


@dataclass(frozen=True)
class Item:
    """A reproduced table or figure.

    Attributes
    ----------
    section : Section
        What a reader sees.
    frames : dict of str to DataFrame
        Numbers by file name without suffix.
    """

    section: Section
    frames: dict[str, pd.DataFrame]

    def write(self, folder: Path) -> None:
        """Write the numbers as CSV and the pictures as PNG and SVG."""
        for name, frame in self.frames.items():
            write_frame(folder / f"{name}.csv", frame)
        for picture in self.section.pictures:
            picture.save(folder)


Results = Mapping[str, Rows]
"""What tasks found, by the name of the task."""


@dataclass(frozen=True)
class Experiment:
    """A table or figure that can be reproduced.

    Attributes
    ----------
    name, title : str
        What the command line and the report call it.
    tasks : callable
        Everything to simulate; experiments may share tasks.
    item : callable
        The table or figure from the results of these tasks.
    """

    name: str
    title: str
    tasks: Callable[[Settings], Sequence[Task]]
    item: Callable[[Results], Item]
