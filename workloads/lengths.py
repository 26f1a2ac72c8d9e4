"""How long requests are: distributions of whole numbers of tokens >= 1.

Every distribution states the exact mean of the whole numbers it draws, because the load of a system
is rate times mean length: an error of half a token there is an error in the load.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Protocol, cast, runtime_checkable

import numpy as np

from serving_sim.arguments import check_kind, is_real, is_whole
from serving_sim.columns import LARGEST_COUNT, FloatArray, IntArray
from workloads.registry import Registry
from workloads.spec import parse

LENGTHS = Registry(
    kind="length distribution",
    prefix="lengths",
    builtin={
        "fixed": "workloads.lengths:Fixed",
        "uniform": "workloads.lengths:Uniform",
        "geometric": "workloads.lengths:Geometric",
        "lognormal": "workloads.lengths:Lognormal",
        "lmsys-like": "workloads.lengths:LmsysLike",
        "listed": "workloads.lengths:Listed",
        "quantiles": "workloads.quantiles:Quantiles",
        "prompt-output": "workloads.prompt_output:PromptOutput",
        "empirical": "workloads.empirical:Empirical",
    },
    by_name=True,
)


@runtime_checkable
class Lengths(Protocol):
    """A distribution of lengths in tokens."""

    @property
    def mean(self) -> float:
        """Exact mean of a drawn length in tokens."""

    def sample(self, n: int, rng: np.random.Generator) -> IntArray:
        """``n`` independent lengths, shape (n,)."""


def parse_lengths(text: str, *, folder: Path | None = None) -> Lengths:
    """The distribution that ``NAME:key=value,..`` names, such as ``geometric:mean=128``.

    Paths in the text begin in ``folder``, by default in the working folder.

    Raises
    ------
    TypeError
        If it is no text.
    ValueError
        If the text does not name a distribution with its parameters.
    """
    check_kind("text", text, str, "a text such as 'geometric:mean=128'")
    return cast("Lengths", parse(text, LENGTHS, Lengths, folder=folder))


@dataclass(frozen=True)
class Fixed:
    """Every request has the same length in tokens."""

    length: int

    def __post_init__(self) -> None:
        _at_least_one("length", self.length)

    @property
    def mean(self) -> float:
        """The length itself."""
        return float(self.length)

    def sample(self, n: int, rng: np.random.Generator) -> IntArray:
        """``n`` equal lengths; nothing is drawn from ``rng``."""
        return np.full(n, self.length, dtype=np.int64)


@dataclass(frozen=True)
class Listed:
    """The lengths of a list in its order, over and over: small instances written down by hand.

    Parameters
    ----------
    tokens : str
        Whole numbers >= 1 joined by ``+``, as in ``10+7+7+5+1``.

    Raises
    ------
    TypeError
        If it is no text.
    ValueError
        If the text is no such list.
    """

    tokens: str
    _lengths: IntArray = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_kind("tokens", self.tokens, str, "a text such as '10+7+1'")
        parts = self.tokens.split("+")
        if not all(part.isdecimal() and 1 <= int(part) <= LARGEST_COUNT for part in parts):
            raise ValueError(f"tokens={self.tokens!r}: must be whole numbers >= 1 joined by +, as in 10+7+1")
        object.__setattr__(self, "_lengths", np.array([int(part) for part in parts], dtype=np.int64))

    @property
    def mean(self) -> float:
        """Mean of the list."""
        return float(self._lengths.mean())

    def sample(self, n: int, rng: np.random.Generator) -> IntArray:
        """The first ``n`` lengths of the list repeated; nothing is drawn from ``rng``."""
        return np.resize(self._lengths, n)


@dataclass(frozen=True)
class Uniform:
    """Each whole number from ``low`` to ``high``, both included, is as likely as any other."""

    low: int
    high: int

    def __post_init__(self) -> None:
        _at_least_one("low", self.low)
        _at_least_one("high", self.high)
        if self.high < self.low:
            raise ValueError(f"high={self.high!r}: must not be below low={self.low!r}")

    @property
    def mean(self) -> float:
        """``(low + high) / 2``."""
        return (self.low + self.high) / 2

    def sample(self, n: int, rng: np.random.Generator) -> IntArray:
        """``n`` independent lengths."""
        return rng.integers(self.low, self.high, size=n, endpoint=True, dtype=np.int64)


@dataclass(frozen=True)
class Geometric:
    """Each token is the last with probability ``1 / mean``: the memoryless length on 1, 2, ..."""

    mean: float

    def __post_init__(self) -> None:
        if not (is_real(self.mean) and 1 <= self.mean <= 1e9):
            raise ValueError(f"mean={self.mean!r}: must be a number from 1 to 1e9")

    def sample(self, n: int, rng: np.random.Generator) -> IntArray:
        """``n`` independent lengths."""
        return rng.geometric(1 / self.mean, size=n).astype(np.int64, copy=False)


@dataclass(frozen=True)
class Lognormal:
    """A lognormal amount of text, rounded up to whole tokens.

    Parameters
    ----------
    mean : float
        Mean of the lengths *after* rounding up, in tokens; the location of the lognormal is solved
        for it. So the mean asked for is the mean that a load is computed from.
    sigma : float, optional
        Standard deviation of the logarithm *before* rounding up.
    cv : float, optional
        Standard deviation over mean *before* rounding up, ``sqrt(exp(sigma**2) - 1)``. Exactly one of
        ``sigma`` and ``cv`` is given.

    Raises
    ------
    ValueError
        If a parameter is out of range, or if not exactly one of ``sigma`` and ``cv`` is given.
    """

    mean: float
    sigma: float | None = None
    cv: float | None = None

    def __post_init__(self) -> None:
        if not (is_real(self.mean) and 1 < self.mean <= 1e6):
            raise ValueError(f"mean={self.mean!r}: must be a number above 1 and at most 1e6")
        if (self.sigma is None) == (self.cv is None):
            raise ValueError("exactly one of sigma=.. and cv=.. must be given")
        # Below, every length is all but the same; above, lengths come near the limits of int64.
        if self.cv is not None and not (is_real(self.cv) and 0.01 <= self.cv <= 1000):
            raise ValueError(f"cv={self.cv!r}: must be a number from 0.01 to 1000")
        if self.sigma is not None and not (is_real(self.sigma) and 0.01 <= self.sigma <= 4):
            raise ValueError(f"sigma={self.sigma!r}: must be a number from 0.01 to 4")

    @cached_property
    def _log_sd(self) -> float:
        return self.sigma if self.cv is None else math.sqrt(math.log1p(self.cv**2))  # type: ignore[return-value]

    @cached_property
    def _log_mean(self) -> float:
        """Location that gives the rounded lengths their mean.

        Rounding up adds between 0 and 1 to the mean, so the unrounded mean lies within 1 below it.
        """
        from scipy.optimize import brentq

        shift = -(self._log_sd**2) / 2  # the mean of a lognormal is exp(mu + sd**2 / 2)

        def excess(unrounded: float) -> float:
            return _mean_rounded_up(math.log(unrounded) + shift, self._log_sd) - self.mean

        return math.log(brentq(excess, self.mean - 1, self.mean, xtol=1e-12)) + shift

    def probability_above(self, tokens: IntArray) -> FloatArray:
        """P(length > k) for each k >= 1 of ``tokens``."""
        from scipy.special import ndtr

        above: FloatArray = ndtr((self._log_mean - np.log(tokens)) / self._log_sd)
        return above

    def sample(self, n: int, rng: np.random.Generator) -> IntArray:
        """``n`` independent lengths."""
        draws = rng.lognormal(self._log_mean, self._log_sd, size=n)
        return np.maximum(np.ceil(draws), 1).astype(np.int64)  # a draw can underflow to 0


def _mean_rounded_up(mu: float, sd: float) -> float:
    """E[ceil X] for lognormal X: the sum of P(X > k) over k >= 0.

    The first terms are added up; the rest, where P(X > x) is smooth, is an integral with the
    Euler-Maclaurin correction, whose next term is below 1e-9.
    """
    from scipy.special import ndtr

    unrounded = math.exp(mu + sd**2 / 2)
    last = max(1000, 2 * math.ceil(unrounded))
    z = (mu - np.log(np.arange(1, last + 1))) / sd
    above = ndtr(z)  # P(X > k) for k = 1 .. last
    density = math.exp(-(z[-1] ** 2) / 2) / (math.sqrt(2 * math.pi) * sd * last)
    integral = unrounded * ndtr(z[-1] + sd) - last * above[-1]  # of P(X > x) over x > last
    return float(1 + above.sum() + integral - above[-1] / 2 + density / 12)


@dataclass(frozen=True)
class LmsysLike:
    """Lengths like those of LMSYS chats: a shifted negative binomial, truncated at 905 tokens.

    Yao and Zhou (section 6) state mean 126, median 90, variance 14938 and maximum 905 for the 2,000
    requests of their experiment. One plus a negative binomial with r = 1.0437 and mean 126.245 comes
    close, once its tail of 0.07 % beyond 905 is left out and its mass shared among the rest: mean
    126.7, median 90, variance 14867. Piling that tail up at 905 instead would give 127.2 and 15253.
    """

    _probability_up_to: FloatArray = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        r, mean, longest = 1.0437, 126.245, 905
        beyond = np.arange(1, longest)  # tokens beyond the first
        ratios = (beyond - 1 + r) / beyond * (mean / (r + mean))  # P(k) / P(k - 1)
        # Only arithmetic, no library function whose last bit differs between machines.
        cumulated = np.cumsum(np.concatenate([[1.0], np.cumprod(ratios)]))
        object.__setattr__(self, "_probability_up_to", cumulated / cumulated[-1])

    @property
    def mean(self) -> float:
        """Sum of P(length > k) over k >= 0."""
        return float(np.sum(1 - self._probability_up_to)) + 1

    def sample(self, n: int, rng: np.random.Generator) -> IntArray:
        """``n`` independent lengths, by inversion."""
        beyond = np.searchsorted(self._probability_up_to, rng.random(n), side="right")
        return beyond.astype(np.int64) + 1


def _at_least_one(name: str, value: int) -> None:
    if not (is_whole(value) and 1 <= value <= LARGEST_COUNT):
        raise ValueError(f"{name}={value!r}: must be a whole number from 1 to 2**62")
