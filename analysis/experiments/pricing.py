"""The design of the profit experiment (Yao and Zhou, section 5.2): who comes, at which price and cost."""

from __future__ import annotations

import numpy as np

from analysis.economics import CostModel
from policies import parse_policy
from serving_sim import Run, Workload, simulate
from serving_sim.request import IntArray

SLOTS = 50
PRICE = 1 / 500
"""Money per token."""
COST = CostModel(c=0.0005, tau=1e-6)
SET = 5
"""Replications that the paper averages over."""

_POTENTIAL = 400
LONGEST = 1000
"""Tokens."""
BUCKET = 100
"""Tokens; requests in a bucket of lengths accept by the same rule."""


def accepted_lengths(lengths_rng: np.random.Generator, acceptance_rng: np.random.Generator) -> IntArray:
    """Lengths of the requests that accept their price, in tokens.

    Of 400 lengths uniform on 1 .. 1000 one in bucket b = 1 + (o - 1) // 100 accepts with probability
    ``max(0, 1 - o / ((2 b - 1) 100))``, which is about one half in every bucket.
    """
    lengths = lengths_rng.integers(1, LONGEST, _POTENTIAL, endpoint=True)
    bucket = 1 + (lengths - 1) // BUCKET
    probability = np.maximum(0, 1 - lengths / ((2 * bucket - 1) * BUCKET))
    accepted: IntArray = lengths[acceptance_rng.random(_POTENTIAL) < probability]
    return accepted


def backlog(lengths: IntArray) -> Workload:
    """The accepted requests, all there at the start."""
    return Workload(np.zeros(len(lengths)), lengths)


def serve(lengths: IntArray, policy: str, *, record_batches: bool = False) -> Run:
    """Serve the accepted requests with a policy named as on the command line."""
    return simulate(backlog(lengths), parse_policy(policy), slots=SLOTS, record_batches=record_batches)
