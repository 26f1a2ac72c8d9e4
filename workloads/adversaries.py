"""Instances built to hurt a scheduler, each with the ratio it is meant to show."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor

from serving_sim import ReactiveSource, Workload
from serving_sim.arguments import is_finite, is_whole
from serving_sim.arrivals import Desk
from serving_sim.source import Process
from workloads.parameters import check_positive

_MOST_REQUESTS = 10_000
"""Of a construction; nobody can look at larger ones."""


@dataclass(frozen=True)
class Instance:
    """A finite input of the scheduling problem.

    Attributes
    ----------
    lengths : tuple of int
        Tokens of each request, in input order.
    slots : int
        Most requests in a batch (the paper's B).
    alpha : int
        Fairness budget in tokens.
    releases : tuple of int or None
        Instants of release in steps; None for a backlog, all at 0.
    """

    lengths: tuple[int, ...]
    slots: int
    alpha: int
    releases: tuple[int, ...] | None = None

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def workload(self) -> Workload:
        """The requests as a workload."""
        return Workload([0] * len(self) if self.releases is None else self.releases, self.lengths)


def over_inserting(gamma: float, length: int = 200) -> Instance:
    """Two equal longs and two shorts of which ISJL packs one too many (two slots).

    The optimum serves the shorts side by side, then the longs. With alpha = gamma L the ratio tends
    to (1 + gamma) / (1 + 2 gamma) for gamma <= 1/2 and to (2 - gamma) / (3 - 2 gamma) above (Yao and
    Zhou, lemma 4.1).

    Raises
    ------
    ValueError
        If gamma is not strictly between 0 and 1 or the length is too small for it.
    """
    alpha = _budget(gamma, length)
    short = (alpha if 2 * alpha <= length else length - alpha) - 1
    if short < 1:
        raise ValueError(f"length={length!r}: too small for gamma={gamma!r}, the short request vanishes")
    return Instance((length, length, short, short), slots=2, alpha=alpha)


def under_inserting(gamma: float, length: int = 200) -> Instance:
    """One long and two mediums of which ISJL packs one too few (two slots).

    The third request is one token too large to be packed in front of the second. With alpha = gamma
    L the ratio tends to (1 + gamma) / (1 + 2 gamma) for gamma <= 1/3 and to 2 (1 + gamma) / (3 +
    gamma) above (Yao and Zhou, lemma 4.2).

    Raises
    ------
    ValueError
        If gamma is not strictly between 0 and 1.
    """
    alpha = _budget(gamma, length)
    if 3 * alpha <= length:
        return Instance((length, length - alpha + 1, 2 * alpha), slots=2, alpha=alpha)
    medium = (length + alpha) // 2 + 1
    return Instance((length, medium, medium), slots=2, alpha=alpha)


def jigsaw(slots: int) -> Instance:
    """Graham's worst case for LPT: ratio 4/3 - 1/(3 B) with an optimum of 3 B (Graham, 1969).

    Lengths 2B-1, 2B-1, 2B-2, 2B-2, .., B+1, B+1, B, B, B, and a budget that never binds.

    Raises
    ------
    ValueError
        If there are fewer than two slots, or too many, or no whole number of them.
    """
    _check_whole("slots", slots)
    if slots < 2:
        raise ValueError(f"slots={slots!r}: the jigsaw needs at least 2")
    _check_requests(f"slots={slots!r}", 2 * slots + 1)
    pairs = [length for length in range(2 * slots - 1, slots, -1) for _ in range(2)]
    return Instance((*pairs, slots, slots, slots), slots=slots, alpha=2 * slots - 1)


def long_then_short(length: int) -> Instance:
    """One request of ``length``, then as many of one token (two slots).

    Under FCFS each short one is batched with the ageing long one, so E = L (L - 1) / 2 (Yao and Zhou,
    proposition 5.4).

    Raises
    ------
    ValueError
        If the length is no whole number >= 1, or too large.
    """
    _check_whole("length", length)
    _check_requests(f"length={length!r}", 1 + length)
    return Instance((length, *[1] * length), slots=2, alpha=length)


def static_waste(slots: int, unit: int = 1) -> Instance:
    """One request of B m and B (B - 1) of m.

    Static batching needs exactly (2B - 1) / B times the optimum of B m, so the bound of theorem 3.3
    is tight for every B (ours).

    Raises
    ------
    ValueError
        If a number is no whole number >= 1, or there are too many slots.
    """
    _check_whole("slots", slots)
    _check_whole("unit", unit)
    shorts = slots * (slots - 1)
    _check_requests(f"slots={slots!r}", 1 + shorts)
    return Instance((slots * unit, *[unit] * shorts), slots=slots, alpha=max(slots - 1, 1) * unit)


class GoldenRatio(ReactiveSource):
    """The release-time adversary against any deterministic online policy (two slots).

    One request of ``length`` at 0. Once the worker starts it, at s, a second of the same length is
    released at ``s + alpha + epsilon`` if that hurts more than releasing nothing: too late to join
    the first fairly, while an optimum that knows would have waited and served both together.

    With x = s / L and eta = (alpha + epsilon) / L the ratio of optimum to policy is
    ``min(1 / (1 + x), (1 + x + eta) / (2 + x))``; its best over x tends to (sqrt(5) - 1) / 2 as L
    grows (Yao and Zhou, proposition 3.27).

    Parameters
    ----------
    length : int
        L, tokens of each request.
    alpha : int
        Fairness budget of the policy under test, in tokens.
    epsilon : float
        How much too late the second release comes, in time units, > 0.

    Raises
    ------
    ValueError
        If the length or alpha is no such number of tokens, or epsilon no finite number > 0.
    """

    def __init__(self, length: int, alpha: int, epsilon: float = 0.5) -> None:
        _check_whole("length", length)
        _check_whole("alpha", alpha, least=0)
        check_positive("epsilon", epsilon)
        self.length = length
        self.alpha = alpha
        self.epsilon = epsilon

    def process(self, desk: Desk) -> Process:
        start = yield desk.started(desk.release(self.length))
        second = start + self.alpha + self.epsilon
        alone = self.length / (start + self.length)
        together = (second + self.length) / (start + 2 * self.length)
        if together < alone:
            yield desk.at(second)
            desk.release(self.length)


def _check_whole(name: str, value: int, *, least: int = 1) -> None:
    if not (is_whole(value) and value >= least):
        raise ValueError(f"{name}={value!r}: must be a whole number >= {least}")


def _check_requests(cause: str, count: int) -> None:
    if count > _MOST_REQUESTS:
        raise ValueError(f"{cause}: makes {count:,} requests, at most {_MOST_REQUESTS:,} are fine")


def _budget(gamma: float, length: int) -> int:
    _check_whole("length", length)
    if not (is_finite(gamma) and 0 < gamma < 1):
        raise ValueError(f"gamma={gamma!r}: must lie strictly between 0 and 1")
    return floor(gamma * length + 1e-9)  # 0.3 * 200 is 59.99..
