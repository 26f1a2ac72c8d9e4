"""Section 7: what a large pool of requests makes easy."""

from __future__ import annotations

import numpy as np

from analysis.experiments.claims.claim import Budget, Claim, Verdict
from analysis.experiments.claims.verdicts import exact


def _pooling(rng: np.random.Generator, budget: Budget) -> Verdict:
    count = budget.of(500)
    for turn in range(count):
        requests, longest = int(rng.integers(1, 2000)), int(rng.integers(1, 1000))
        alpha, slots = int(rng.integers(1, longest + 1)), int(rng.integers(1, 65))
        lengths = rng.integers(1, longest + 1, requests)
        interval = np.minimum(lengths // alpha, -(-longest // alpha) - 1)
        left_over = sum(int(size) % slots for size in np.bincount(interval))
        widest = max(int(np.ptp(lengths[interval == each])) for each in np.unique(interval))
        if widest > alpha or left_over > -(-longest // alpha) * (slots - 1):
            return exact(
                "", turn + 1, broken=f"N = {requests}, alpha = {alpha}, B = {slots}: {left_over} left"
            )
    return exact("never more than K (B - 1) requests are left over, and no batch spreads beyond alpha", count)


CLAIMS = (
    Claim(
        "Section 7 (pooling)",
        "Of N requests all but K (B - 1) fit into full batches of lengths within alpha, K the number of "
        "intervals of width alpha.",
        _pooling,
        assumes="lengths up to a bound",
    ),
)
