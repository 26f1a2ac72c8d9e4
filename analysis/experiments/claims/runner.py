"""Which claims there are, and how they are examined."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from importlib.util import find_spec

import numpy as np
from joblib import delayed

from analysis.experiments.claims import (
    economics,
    isjl_general,
    isjl_two_slots,
    ljf,
    model,
    online,
    pooling,
    program,
    ratio_of_alpha,
    robust,
    tables,
)
from analysis.experiments.claims.claim import Budget, Claim, Finding, Kind, Verdict
from analysis.workers import results
from serving_sim.arguments import unknown

SECTIONS = {
    "2 Model": model.CLAIMS,
    "3.1 Longest job first": ljf.CLAIMS,
    "3.2 ISJL on two slots": isjl_two_slots.CLAIMS,
    "3.3 ISJL on any number of slots": isjl_general.CLAIMS,
    "3.4 Uncertain lengths": robust.CLAIMS,
    "3.5 Arrivals": online.CLAIMS,
    "4 The guarantee as a function of alpha": ratio_of_alpha.CLAIMS,
    "5 Cost and profit": economics.CLAIMS,
    "5.2 and 6 Tables": tables.CLAIMS,
    "7 Pooling": pooling.CLAIMS,
    "8 Integer program": program.CLAIMS,
}
"""Claims by section of the paper, in its order."""

_MISSING = "needs OR-tools: pip install 'serving-sim[optimum]'"


def all_claims() -> list[Claim]:
    """All claims in the order of the paper."""
    return [claim for claims in SECTIONS.values() for claim in claims]


def find_claims(names: Sequence[str]) -> list[Claim]:
    """The claims of those names, a name without its parentheses standing for all claims that share it.

    Raises
    ------
    ValueError
        If no claim has a name.
    """
    found: list[Claim] = []
    for name in names:
        matching = [claim for claim in all_claims() if _matches(claim.name, name)]
        if not matching:
            raise ValueError(unknown("claim", name, [claim.name for claim in all_claims()]))
        found += [claim for claim in matching if claim not in found]
    return found


def examine(claims: Sequence[Claim], *, seed: int, budget: Budget, workers: int = 2) -> Iterator[Finding]:
    """Check claims in parallel and give each finding as soon as it is there, so that none is lost later.

    A claim's random numbers depend on the seed and its name alone, so its verdict is the same whatever
    else is checked.

    Parameters
    ----------
    claims : sequence of Claim
        From `all_claims` or `find_claims`.
    seed : int
        Whole and >= 0.
    budget : Budget
        How hard to try.
    workers : int
        Processes.
    """
    by_name = {claim.name: claim for claim in claims}
    for name, verdict in results([delayed(_examine_one)(name, seed, budget) for name in by_name], workers):
        yield Finding(by_name[name], verdict)


def _examine_one(name: str, seed: int, budget: Budget) -> tuple[str, Verdict]:
    (claim,) = [claim for claim in all_claims() if claim.name == name]
    return name, _verdict(claim, seed, budget)


def _verdict(claim: Claim, seed: int, budget: Budget) -> Verdict:
    if claim.needs_optimum and find_spec("ortools") is None:
        return Verdict(Kind.NOT_TESTABLE, "the optimum is not known", why=_MISSING)
    return claim.check(np.random.default_rng([seed, zlib.crc32(claim.name.encode())]), budget)


def _matches(name: str, wanted: str) -> bool:
    wanted = wanted.strip().lower()
    return name.lower() == wanted or name.lower().partition(" (")[0] == wanted
