"""Distributions fitted to positive numbers, and how well they fit."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from serving_sim.request import FloatArray

_ENOUGH = 100_000
"""Values that a fit looks at; the error of its parameters is well below a percent then."""

_ROUNDING = 1e-6
"""Share of the largest value by which those that should be equal may differ: stamps have some nine digits."""


@dataclass(frozen=True)
class Family:
    """A family of distributions on the positive numbers.

    Attributes
    ----------
    name : str
        What to call it.
    distribution : rv_continuous
        Of scipy, fitted with its location at 0.
    parameters : callable
        From the fitted shape and scale to parameters by the names that users know.
    """

    name: str
    distribution: stats.rv_continuous
    parameters: Callable[..., Mapping[str, float]]

    def fit(self, values: FloatArray, *, whole: bool) -> Fitted | None:
        """The member of greatest likelihood for ``values`` > 0, or for a good many of them.

        None where the search fails or a number of the fit is beyond floats: no member is of use then.
        """
        try:
            with np.errstate(all="ignore"):
                fitted = self._search(values, whole=whole)
        except (stats.FitError, ArithmeticError):
            return None
        numbers = (*fitted.parameters.values(), fitted.distance, fitted.aic)
        return fitted if np.isfinite(numbers).all() else None

    def _search(self, values: FloatArray, *, whole: bool) -> Fitted:
        found = self.distribution.fit(_representative(values), floc=0)
        *shapes, _, scale = (float(each) for each in found)
        frozen = self.distribution(*shapes, loc=0, scale=scale)
        free = len(shapes) + 1
        return Fitted(
            family=self.name,
            parameters=dict(self.parameters(*shapes, scale)),
            distance=_distance(values, frozen.cdf, whole=whole),
            aic=float(2 * free - 2 * np.sum(frozen.logpdf(values))),
            cdf=frozen.cdf,
        )


@dataclass(frozen=True)
class Fitted:
    """A member of a family.

    Attributes
    ----------
    family : str
        Name of the family.
    parameters : mapping of str to float
        By name.
    distance : float
        Kolmogorov-Smirnov distance, the largest difference between the distribution functions of
        data and fit: 0.05 means that no quantile is off by more than five percentage points.
    aic : float
        Akaike's information criterion; of two families fitted to the same data the one with the
        smaller value tells more.
    cdf : callable
        Distribution function of the fit.
    """

    family: str
    parameters: Mapping[str, float]
    distance: float
    aic: float
    cdf: Callable[[FloatArray], FloatArray]

    def to_dict(self) -> dict[str, object]:
        """All but the function."""
        return {
            "family": self.family,
            "parameters": dict(self.parameters),
            "ks_distance": self.distance,
            "aic": self.aic,
        }


EXPONENTIAL = Family("exponential", stats.expon, lambda scale: {"mean": scale})
GAMMA = Family("gamma", stats.gamma, lambda shape, scale: {"shape": shape, "mean": shape * scale})
WEIBULL = Family(
    "weibull",
    stats.weibull_min,
    lambda shape, scale: {"shape": shape, "mean": scale * math.gamma(1 + 1 / shape)},
)
LOGNORMAL = Family(
    "lognormal",
    stats.lognorm,
    lambda sigma, scale: {"sigma": sigma, "mean": scale * math.exp(sigma**2 / 2)},
)


def fit_families(
    values: NDArray[np.int64] | FloatArray, families: Sequence[Family], *, whole: bool = False
) -> list[Fitted]:
    """Fit families to the values above 0, the closest first.

    Parameters
    ----------
    values : ndarray of float, shape (n,)
        Numbers >= 0; zeros are left out, as no density can hold them.
    families : sequence of Family
        What to fit.
    whole : bool
        Whether values are whole numbers: a fit then stands for its numbers rounded up, and the
        distance looks at whole numbers only.

    Returns
    -------
    list of Fitted
        By distance; a family whose fit is beyond floats is left out. Empty where fewer than two
        values above 0 differ by more than rounding.

    Notes
    -----
    No p-value is given: with the parameters fitted to the same data the usual one is wrong, and with
    the thousands of rows of a log every family is rejected. The distance says how much it matters.
    """
    positive = np.asarray(values, dtype=np.float64)
    positive = positive[positive > 0]
    # gaps of a clock that ticks differ by rounding alone, and a search for their shape does not end
    if len(positive) == 0 or positive.max() - positive.min() <= _ROUNDING * positive.max():
        return []
    tried = (family.fit(positive, whole=whole) for family in families)
    return sorted(filter(None, tried), key=lambda fitted: fitted.distance)


def _representative(values: FloatArray) -> FloatArray:
    """Values that stand for very many, at evenly spaced ranks: the search for a fit sees each often."""
    if len(values) <= _ENOUGH:
        return values
    ranks = np.linspace(0, len(values) - 1, _ENOUGH).round().astype(np.int64)
    return np.sort(values)[ranks]


def _distance(values: FloatArray, cdf: Callable[[FloatArray], FloatArray], *, whole: bool) -> float:
    distinct, counts = np.unique(values, return_counts=True)
    up_to = np.cumsum(counts) / len(values)
    expected = cdf(distinct)
    above = np.abs(up_to - expected).max()
    if whole:  # below k the rounded fit holds what the fit holds up to k - 1
        return float(max(above, np.abs(up_to - counts / len(values) - cdf(distinct - 1)).max()))
    return float(max(above, np.abs(expected - up_to + counts / len(values)).max()))
