"""Costs of a schedule added up step by step, from its starts alone (Yao and Zhou, equations 3 to 6).

The engine keeps these totals in closed form; here every step is looked at, so that an identity between
them says something.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from serving_sim import Run
from serving_sim.request import IntArray


@dataclass(frozen=True)
class Accounts:
    """Totals of one schedule; exact integers.

    Attributes
    ----------
    tokens, intrinsic : int
        O and Q.
    steps : int
        T, steps with a batch.
    externality : int
        E.
    peak : int
        Sum over steps of ``|S| max r``.
    max_gap : int
        Largest gap in tokens.
    """

    tokens: int
    intrinsic: int
    steps: int
    externality: int
    peak: int
    max_gap: int

    def cost(self, per_step: int, per_token: int) -> int:
        """C, the sum over steps of ``c + tau |S| max r``."""
        return per_step * self.steps + per_token * self.peak

    def profit(self, price: int, per_step: int, per_token: int) -> int:
        """Pi, revenue less cost."""
        return price * self.tokens - self.cost(per_step, per_token)


def accounts_of(run: Run) -> Accounts:
    """Accounts of a run whose starts are whole steps."""
    assert run.requests is not None
    return accounts(run.start.astype(np.int64), run.requests.length)


def accounts(start: IntArray, length: IntArray) -> Accounts:
    """Accounts of a schedule, a table of steps by requests.

    Parameters
    ----------
    start, length : ndarray of int, shape (n,)
        First step of each request and the number of its steps.
    """
    step = np.arange(int((start + length).max()))[:, None]
    position = step - start + 1  # r, the token made in this step
    active = (position >= 1) & (position <= length)
    busy = active.any(axis=1)
    largest = np.where(active, position, 0).max(axis=1)[:, None]
    smallest = np.where(active, position, largest).min(axis=1)
    return Accounts(
        tokens=int(active.sum()),
        intrinsic=int(position[active].sum()),
        steps=int(busy.sum()),
        externality=int(((largest - position) * active).sum()),
        peak=int((largest * active).sum()),
        max_gap=int((largest[:, 0] - smallest).max()),
    )
