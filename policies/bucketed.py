"""Static batches within classes of similar length (Yao and Zhou, section 7)."""

from __future__ import annotations

from collections.abc import Sequence

from policies.by_size import BySize
from policies.parameters import check_count
from serving_sim import Admission, Epoch, Explanation


class Bucketed(BySize):
    """Static batches of requests from one of ``k`` length classes of equal width.

    When the worker is empty, sizes from 1 to the largest waiting one are cut into k classes of
    equal width, rounded up. The class of the request that waits longest is served: its earliest
    requests, as many as there are slots; then nobody until all have finished. Gaps are 0, so the
    policy is alpha-fair for any alpha; unlike `LJF` it lets no class starve.

    Complexity: O((d + admitted) log d) a batch, d distinct waiting sizes.

    Parameters
    ----------
    k : int
        Number of classes, >= 1; 1 is first come, first served in static batches.

    Raises
    ------
    ValueError
        If k is no whole number >= 1.
    """

    name = "bucketed"
    alpha = 0

    def __init__(self, k: int) -> None:
        self.k = check_count("k", k)

    def decide(self, epoch: Epoch) -> Sequence[Admission]:
        if epoch.active:
            return ()
        width = -(-self._queue.largest() // self.k)
        served = (self._queue.earliest_size() - 1) // width
        slots = epoch.lowest(epoch.slots)
        self._served = served * width + 1, (served + 1) * width
        chosen = self._queue.pop_earliest(*self._served, len(slots))
        return list(zip(chosen, slots, strict=False))

    def explain(self, epoch: Epoch, answer: Sequence[Admission]) -> Explanation:
        if epoch.active:
            return Explanation("static batches: nobody enters until all active requests have finished")
        low, high = self._served
        return Explanation(
            f"static batches: the request that has waited longest is of the class of {low} to {high} tokens, "
            "the earliest of that class enter together"
        )
