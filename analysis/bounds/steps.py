"""Steps that any nonpreemptive schedule of a pool needs: one lower bound a function.

Write N(a) for the number of requests longer than a, and call a step's *level* the largest progress
in the batch at its start. A request longer than a makes its token a + 1 in a step of level a at
least; in an alpha-fair batch that level is at most a + alpha; and nobody is admitted at a level above
alpha. The fair bounds count the steps of each level (``docs/explanation/bounds.md`` has the proofs).
All of them count busy steps, so they hold from the first start on, whatever the releases, and none
becomes smaller when a request is added.
"""

from __future__ import annotations

import numpy as np

from analysis.bounds.pool import Pool
from serving_sim.request import IntArray


def longest_bound(pool: Pool) -> int:
    """Steps of the longest request: it runs without interruption.

    Source: Graham 1969, "Bounds on multiprocessing timing anomalies".
    """
    return pool.longest


def work_bound(pool: Pool) -> int:
    """Work over slots: a step makes at most one token a slot.

    Source: Graham 1969.
    """
    return -(-pool.tokens // pool.slots)


def cohort_bound(pool: Pool) -> int:
    """Steps LJF takes for the requests longer than 2 alpha; 0 if there are none.

    If i overlaps j and j overlaps k, the outer two start within 2 alpha of each other; being longer
    than that they overlap too. So overlap is an equivalence among these requests, its classes run
    one after the other, and each has one request a slot at most. The sum of the longest of each
    class is smallest when the classes are cut from the sorted lengths.
    """
    return int(pool.leaders_above(2 * pool.alpha).sum())


def staggered_bound(pool: Pool) -> int:
    """``alpha + sum_k (o_(k slots + 1) - alpha)`` over the requests longer than alpha, sorted.

    Fix a level a >= alpha. Between a request's token a + 1 and the last step of level a before it
    nobody is admitted, so that step had the request in its batch: each step of level a answers for
    ``slots`` requests at most, and there are N(a) to answer for. Summing ceil(N(a) / slots) over
    the levels gives the sum; the levels below alpha are passed at least once. Where no request is
    longer than alpha this is the longest length.
    """
    return min(pool.alpha, pool.longest) + _steps_from_alpha(pool)


def drain_bound(pool: Pool) -> int:
    """The staggered bound, with the levels below alpha passed once for each cohort.

    While a request with 2 alpha tokens is active, all others have alpha or more, and more than
    alpha one step later: nobody is admitted until the batch has run empty. The requests longer than
    2 alpha that share the time between two such instants are in one batch, so there are at least
    ceil(N(2 alpha) / slots) of them, and each passes every level below alpha. At least as large as
    the cohort and the staggered bound.
    """
    return drains(pool) * min(pool.alpha, pool.longest) + _steps_from_alpha(pool)


def mixed_bound(pool: Pool) -> int:
    """``max over q >= 0 of ceil(sum_i min(o_i, q) / slots) + sum_k max(o_(k slots + 1) - q - alpha, 0)``.

    The first q tokens of every request are made in steps of a level below q + alpha: their number
    over the slots bounds those steps. The sum bounds the steps of the levels from q + alpha on, as
    in the staggered bound. At least as large as the work bound (q the longest length).
    """
    # Both terms are piecewise linear in q, and their sum bends downwards at lengths only.
    q = np.append(0, np.unique(pool.descending))
    work = _sums_of_minima(pool.descending[::-1], q)
    rest = int(pool.leaders.sum()) - _sums_of_minima(pool.leaders[::-1], q + pool.alpha)
    return int((-(-work // pool.slots) + rest).max())


BOUNDS = {
    "longest": longest_bound,
    "work": work_bound,
    "cohort": cohort_bound,
    "staggered": staggered_bound,
    "drain": drain_bound,
    "mixed": mixed_bound,
}
"""From the simplest to the most involved: of equal bounds the first gives the name."""


def drains(pool: Pool) -> int:
    """Least number of times the batch starts empty: once, and once for each cohort."""
    return max(1, len(pool.leaders_above(2 * pool.alpha)))


def _steps_from_alpha(pool: Pool) -> int:
    """Least number of steps of level alpha or more: sum of ceil(N(a) / slots) for a >= alpha."""
    leaders = pool.leaders_above(pool.alpha)
    return int(leaders.sum()) - pool.alpha * len(leaders)


def _sums_of_minima(ascending: IntArray, caps: IntArray) -> IntArray:
    """``sum_i min(o_i, cap)`` for each cap."""
    below = np.searchsorted(ascending, caps, side="right")
    sums = np.append(0, np.cumsum(ascending))
    minima: IntArray = sums[below] + caps * (len(ascending) - below)
    return minima
