"""A distribution given by its quantiles: what is left of a log that cannot be shared."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from serving_sim.arguments import check_kind
from serving_sim.columns import FloatArray, IntArray

LARGEST_KNOT = 2**53
"""Knots beyond it have gaps between them as floats."""


def parse_knots(name: str, text: str) -> FloatArray:
    """Numbers joined by ``+``, rising from at least 0.

    Raises
    ------
    TypeError
        If it is no text.
    ValueError
        If there are fewer than two, or one is no such number.
    """
    check_kind(name, text, str, "a text such as '1+20+90'")
    try:
        knots = np.array([float(part) for part in text.split("+")])
    except ValueError:
        knots = np.array([math.nan])
    in_range = ((knots >= 0) & (knots <= LARGEST_KNOT)).all()
    if len(knots) < 2 or not in_range or (np.diff(knots) < 0).any():
        raise ValueError(f"{name}: must be two or more numbers >= 0 joined by +, none below the one before")
    return knots


def value_at(knots: FloatArray, share: FloatArray) -> FloatArray:
    """Quantiles at ``share`` in [0, 1]: ``knots`` are equally spaced shares apart, straight lines between."""
    return np.interp(share * (len(knots) - 1), np.arange(len(knots)), knots)


def mean_of(knots: FloatArray) -> float:
    """Exact mean of a quantile drawn at a uniform share."""
    return float((knots[:-1] + knots[1:]).mean() / 2)


def knots_of(values: ArrayLike, classes: int) -> FloatArray:
    """Knots that stand for a sample.

    Inner knots are quantiles of the sample. The first and last are chosen so that the lowest and
    highest class keep their means, and with them the whole its mean: a straight line to the largest
    value would overstate a long tail, and no single extreme value is told.

    Parameters
    ----------
    values : array_like, shape (n,)
        Numbers >= 0.
    classes : int
        Equally large parts of the sample, 1 <= classes <= n.
    """
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    knots = np.quantile(ordered, np.linspace(0, 1, classes + 1))
    if classes > 1:
        size = len(ordered) // classes
        knots[0] = np.clip(2 * ordered[:size].mean() - knots[1], 0, knots[1])
        knots[-1] = max(2 * ordered[-size:].mean() - knots[-2], knots[-2])
    return knots


@dataclass(frozen=True)
class Quantiles:
    """Lengths with given quantiles, straight lines between them, rounded to whole numbers.

    So any whole number between two quantiles is as likely as another, and each of the two gets half of
    that from the class: ``1+3`` gives 1, 2 and 3 with probabilities 1/4, 1/2 and 1/4.

    Parameters
    ----------
    tokens : str
        Whole numbers >= 1 joined by ``+``: the quantiles at equally spaced shares from 0 to 1, as in
        ``1+20+90+4000`` for shares 0, 1/3, 2/3 and 1.

    Raises
    ------
    ValueError
        If the text is no such list.
    """

    tokens: str
    _knots: FloatArray = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_knots", whole_knots("tokens", self.tokens, least=1))

    @property
    def mean(self) -> float:
        """Exact: rounding to whole numbers between whole quantiles errs as often up as down."""
        return mean_of(self._knots)

    def sample(self, n: int, rng: np.random.Generator) -> IntArray:
        """``n`` independent lengths, by inversion."""
        return whole_value_at(self._knots, rng.random(n))


def whole_knots(name: str, text: str, *, least: int) -> FloatArray:
    """Knots that are whole numbers from ``least`` on.

    Raises
    ------
    ValueError
        If they are not.
    """
    knots = parse_knots(name, text)
    if knots[0] < least or (knots != np.floor(knots)).any():
        raise ValueError(f"{name}: must be whole numbers >= {least} joined by +")
    return knots


def whole_value_at(knots: FloatArray, share: FloatArray) -> IntArray:
    """`value_at`, rounded to the nearest whole number."""
    return np.rint(value_at(knots, share)).astype(np.int64)


def knots_text(knots: FloatArray, digits: int = 6) -> str:
    """Knots as `parse_knots` reads them, with so many significant digits."""
    # the plus of an exponent would end the number
    return "+".join(f"{knot:.{digits}g}".replace("e+", "e") for knot in knots.tolist())
