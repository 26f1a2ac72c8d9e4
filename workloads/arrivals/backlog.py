"""Everybody at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from serving_sim.columns import FloatArray


@dataclass(frozen=True)
class Backlog:
    """All requests are there at time 0."""

    def releases(self, n: int, rng: np.random.Generator) -> FloatArray:
        """``n`` zeros; nothing is drawn from ``rng``."""
        return np.zeros(n)
