"""What is known of a length before it is served: intervals ``lower <= length <= upper``.

Every model says how its interval comes about and what a policy could read off it. All hold
``1 <= lower <= length <= upper`` for every request, since that is what the non-clairvoyant model
promises to a policy (Yao and Zhou, section 3.4).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from serving_sim import Workload
from serving_sim.arguments import check_kind, is_real, is_whole, unknown
from serving_sim.columns import LARGEST_COUNT, IntArray
from workloads.generate import Stream, stream
from workloads.registry import Registry
from workloads.spec import parse

Interval = tuple[IntArray, IntArray]
"""Lower and upper bounds in tokens, one a request."""

PREDICTIONS = Registry(
    kind="prediction model",
    prefix="predictions",
    builtin={
        "noise": "workloads.predictions:Noise",
        "slack": "workloads.predictions:Slack",
        "quantile": "workloads.predictions:Quantile",
        "limit": "workloads.predictions:Limit",
        "columns": "workloads.predictions:Columns",
    },
    by_name=True,
)


@runtime_checkable
class Predictions(Protocol):
    """A model of what is known about lengths."""

    def interval(self, workload: Workload, rng: np.random.Generator) -> Interval:
        """Bounds on the length of every request, each of shape (n,)."""


def parse_predictions(text: str) -> Predictions:
    """The model that ``NAME:key=value,..`` names, such as ``noise:kappa=0.5``.

    Raises
    ------
    TypeError
        If it is no text.
    ValueError
        If the text does not name a model with its parameters.
    """
    check_kind("text", text, str, "a text such as 'noise:kappa=0.5'")
    return cast("Predictions", parse(text, PREDICTIONS, Predictions))


def predict(workload: Workload, model: Predictions, seed: int | np.random.SeedSequence) -> Workload:
    """The same requests with the intervals of a model; intervals they had are replaced.

    Predictions have a random stream of their own, so they leave lengths and releases as they are.

    Parameters
    ----------
    workload : Workload
        The requests.
    model : Predictions
        What is known of their lengths.
    seed : int or SeedSequence
        Where all randomness comes from: that of `make_workload`, or any for a file.

    Raises
    ------
    TypeError
        If the model is none, as where its text is given.
    ValueError
        If the model does not fit the workload or the seed is negative.
    """
    check_kind("model", model, Predictions, "a prediction model, as parse_predictions gives it")
    lower, upper = model.interval(workload, stream(seed, Stream.PREDICTIONS))
    return replace(workload, lower=lower, upper=upper)


def context_limit(workloads: Iterable[Workload]) -> int:
    """The smallest power of two that no request is longer than, as context windows go, in tokens."""
    longest = max(int(workload.length.max()) for workload in workloads)
    return 1 << (longest - 1).bit_length()


@dataclass(frozen=True)
class Noise:
    """Multiplicative noise: bounds a factor ``kappa`` apart, the length anywhere between them.

    The length divides the interval at a place uniform on a logarithmic scale: before rounding
    ``upper = length * kappa**-u`` and ``lower = kappa * upper`` with u uniform on [0, 1). In whole
    tokens ``lower / upper >= kappa`` holds for every request, and ``lower - 1`` would break it (as
    far as quotients of whole numbers are exact, up to some 2**52 tokens).

    Parameters
    ----------
    kappa : float
        Prediction-interval accuracy in (0, 1]; 1 is exact (Yao and Zhou, section 3.4).

    Raises
    ------
    ValueError
        If kappa is out of range.
    """

    kappa: float

    def __post_init__(self) -> None:
        if not (is_real(self.kappa) and 0 < self.kappa <= 1):
            raise ValueError(f"kappa={self.kappa!r}: must be a number above 0 and at most 1")

    def interval(self, workload: Workload, rng: np.random.Generator) -> Interval:
        length = workload.length
        position = rng.random(len(length))
        drawn = np.minimum(length * self.kappa**-position, LARGEST_COUNT).astype(np.int64)
        upper: IntArray = np.clip(drawn, length, self._largest_upper(length))
        return np.minimum(self._least_lower(upper), length), upper

    # Quotients are compared, not products: 7 / 10 >= 0.7 is true in floating point as on paper.

    def _largest_upper(self, length: IntArray) -> IntArray:
        upper: IntArray = np.minimum(length / self.kappa, LARGEST_COUNT).astype(np.int64)
        upper += length / (upper + 1) >= self.kappa
        upper -= length / upper < self.kappa
        return np.maximum(upper, length)

    def _least_lower(self, upper: IntArray) -> IntArray:
        lower: IntArray = np.maximum(np.ceil(upper * self.kappa), 1).astype(np.int64)
        lower -= (lower - 1) / upper >= self.kappa
        lower += lower / upper < self.kappa
        return lower


@dataclass(frozen=True)
class Slack:
    """Additive error: an estimate off by up to ``tokens`` either way, and bounds as far around it.

    The estimate is ``length + U`` with U uniform on -tokens .. tokens, the interval the estimate plus
    and minus ``tokens``, cut at 1. So ``upper - length`` is uniform on 0 .. 2 tokens.

    Parameters
    ----------
    tokens : int
        Largest error, >= 0; 0 is exact.

    Raises
    ------
    ValueError
        If tokens is out of range.
    """

    tokens: int

    def __post_init__(self) -> None:
        if not (is_whole(self.tokens) and 0 <= self.tokens <= 2**60):
            raise ValueError(f"tokens={self.tokens!r}: must be a whole number from 0 to 2**60")

    def interval(self, workload: Workload, rng: np.random.Generator) -> Interval:
        error = rng.integers(-self.tokens, self.tokens, size=len(workload), endpoint=True, dtype=np.int64)
        estimate = workload.length + error
        return np.maximum(estimate - self.tokens, 1), estimate + self.tokens


@dataclass(frozen=True)
class Quantile:
    """Upper bounds calibrated on similar requests: the q-quantile of their lengths.

    The quantile is the smallest length that at least a fraction q of the group does not exceed. It
    cannot bound the requests above it; they get the largest length of their group instead. So a
    policy sees two values a group: the quantile for at least a fraction q of it, the maximum for the
    rest. The lower bound is the smallest length of the group. The group itself is what the quantile
    is taken of, so its coverage is exact and there is nothing random.

    Parameters
    ----------
    q : float
        Fraction of requests the quantile covers, in (0, 1].
    by : str
        What makes requests similar: ``all`` of them are, or those of one ``tenant``, or those whose
        ``prompt`` has a number of tokens between the same two powers of two.

    Raises
    ------
    ValueError
        If a parameter is out of range, or the workload lacks the column that ``by`` needs.
    """

    q: float
    by: str = "all"

    def __post_init__(self) -> None:
        if not (is_real(self.q) and 0 < self.q <= 1):
            raise ValueError(f"q={self.q!r}: must be a number above 0 and at most 1")
        if self.by not in ("all", "tenant", "prompt"):
            raise ValueError(unknown("by", self.by, ("all", "tenant", "prompt")))

    def interval(self, workload: Workload, rng: np.random.Generator) -> Interval:
        length = workload.length
        lower, upper = np.empty_like(length), np.empty_like(length)
        group = self._groups(workload)
        order = np.argsort(group, kind="stable")
        for rows in np.split(order, np.flatnonzero(np.diff(group[order])) + 1):
            alike = length[rows]
            shares = np.arange(1, len(alike) + 1) / len(alike)
            covering = np.sort(alike)[np.argmax(shares >= self.q)]
            lower[rows] = alike.min()
            upper[rows] = np.where(alike <= covering, covering, alike.max())
        return lower, upper

    def _groups(self, workload: Workload) -> IntArray:
        if self.by == "all":
            return np.zeros(len(workload), dtype=np.int64)
        if self.by == "tenant":
            _, group = np.unique(_column(workload, "tenant").astype(str), return_inverse=True)
            return group
        _, bits = np.frexp(_column(workload, "prompt_tokens"))
        return cast("IntArray", bits)


@dataclass(frozen=True)
class Limit:
    """Nothing is known but the context limit: every length lies between 1 and ``tokens``.

    Parameters
    ----------
    tokens : int
        The limit.

    Raises
    ------
    ValueError
        If the limit is below 1, or a request is longer.
    """

    tokens: int

    def __post_init__(self) -> None:
        if not (is_whole(self.tokens) and 1 <= self.tokens <= LARGEST_COUNT):
            raise ValueError(f"tokens={self.tokens!r}: must be a whole number from 1 to 2**62")

    def interval(self, workload: Workload, rng: np.random.Generator) -> Interval:
        longest = int(workload.length.max())
        if longest > self.tokens:
            raise ValueError(f"tokens={self.tokens!r}: must not be below the longest request, {longest}")
        return np.ones_like(workload.length), np.full_like(workload.length, self.tokens)


@dataclass(frozen=True)
class Columns:
    """The intervals that the requests came with; without a column ``lower`` it is 1.

    Raises
    ------
    ValueError
        If the workload has no column ``upper``.
    """

    def interval(self, workload: Workload, rng: np.random.Generator) -> Interval:
        upper = cast("IntArray", _column(workload, "upper"))
        return np.ones_like(upper) if workload.lower is None else workload.lower, upper


def _column(workload: Workload, name: str) -> NDArray[np.generic]:
    column = getattr(workload, name)
    if column is None:
        raise ValueError(f"predictions: need a column {name}, the workload has none")
    return cast("NDArray[np.generic]", column)
