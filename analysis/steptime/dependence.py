"""Whether the measured steps can tell the coefficients apart.

Belsley, Kuh and Welsch (1980), "Regression diagnostics", section 3.2: columns are scaled to unit length,
the largest singular value over each other one is a condition index, and a coefficient is degraded
where most of its variance comes with indices that are large.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from analysis.steptime.steps import TERMS
from serving_sim.request import FloatArray

_LARGE = 100.0
"""Condition index beyond those of strong dependencies, 30 to 100 (Belsley, Kuh and Welsch, section 3.2)."""

_ROUNDING = 1e10
"""Condition index beyond which only rounding keeps columns from depending on each other."""

_MOST = 0.5  # share of a variance

_PART = 1e-3
"""Part in the projection on weak directions below which two columns have nothing to do with each other."""


@dataclass(frozen=True)
class Dependence:
    """How nearly the columns of a fit depend on each other.

    Attributes
    ----------
    condition : float or None
        Largest condition index; None where columns depend on each other exactly.
    groups : list of list of str
        Coefficients that the steps hardly tell apart, group by group, or not at all where ``condition``
        is None.
    """

    condition: float | None
    groups: list[list[str]]

    @property
    def exact(self) -> bool:
        """Whether some coefficients can be exchanged for others without any change on these steps."""
        return self.condition is None

    def warning(self, group: Sequence[str]) -> str:
        """What one of the groups means, and what helps, in a sentence."""
        names = f"{', '.join(group[:-1])} and {group[-1]}"
        how = "cannot" if self.exact else "hardly"
        return (
            f"these steps {how} tell {names} apart; measure batches that differ more in size "
            "and in how their tokens are spread"
        )


def dependence(design: FloatArray) -> Dependence:
    """Find the dependencies among columns, shape (n, k), n >= k."""
    unit = design / np.linalg.norm(design, axis=0)
    singular, right = np.linalg.svd(unit, full_matrices=False)[1:]
    index = singular[0] / np.maximum(singular, singular[0] / _ROUNDING)
    exact = bool(index[-1] >= _ROUNDING)
    weak = index >= (_ROUNDING if exact else _LARGE)
    variance = (right * index[:, np.newaxis]) ** 2
    degraded = variance[weak].sum(axis=0) >= _MOST * variance.sum(axis=0)
    return Dependence(None if exact else float(index[-1]), _groups(right[weak], degraded))


def _groups(weak: FloatArray, degraded: NDArray[np.bool_]) -> list[list[str]]:
    """Degraded columns that share weak directions.

    Two dependencies at once leave the singular vectors free to turn in their plane; the projection on
    that plane does not turn, so it tells which columns belong together.
    """
    together = np.abs(weak.T @ weak) > _PART
    together &= degraded & degraded[:, np.newaxis]
    _, label = connected_components(together, directed=False)
    groups = [[TERMS[column] for column in np.flatnonzero(label == each)] for each in np.unique(label)]
    return [group for group in groups if len(group) > 1]
