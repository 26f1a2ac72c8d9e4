"""A stream made of given blocks, and a sink that keeps what it is given."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from serving_sim import Served, Workload


@dataclass
class Blocks:
    """An open-loop source made of the given blocks; counts how many were asked for."""

    parts: list[Workload]
    asked: int = 0

    def blocks(self) -> Iterator[Workload]:
        for part in self.parts:
            self.asked += 1
            yield part


@dataclass
class Kept:
    """A sink that keeps what it is given, and how much of the source had been read by then."""

    source: Blocks
    served: list[Served] = field(default_factory=list)
    asked: list[int] = field(default_factory=list)

    def write(self, served: Served) -> None:
        self.served.append(served)
        self.asked.append(self.source.asked)

    def column(self, name: str) -> NDArray[Any]:
        """A fate of all requests."""
        return np.concatenate([getattr(served, name) for served in self.served])


def cut(whole: Workload, size: int) -> list[Workload]:
    """Blocks of equal length, and the rest."""
    return [whole.take(np.arange(k, min(k + size, len(whole)))) for k in range(0, len(whole), size)]
