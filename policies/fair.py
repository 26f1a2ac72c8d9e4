"""Any policy behind the admission test of constraint (1)."""

from __future__ import annotations

from collections.abc import Sequence

from policies.parameters import check_alpha, check_policy
from serving_sim import Admission, Epoch, Explanation, Policy, Rule
from serving_sim.rule import rule_of


class Fair(Policy):
    """``inner`` behind the test A_max <= alpha, which keeps the batch alpha-fair.

    All active requests advance in lockstep, so the gap between two of them never changes: an
    admission is fair if and only if the largest progress is at most alpha at that epoch. The worker
    applies the test to every policy that promises an alpha; the wrapper makes the promise.

    Parameters
    ----------
    inner : Policy
        The ordering.
    alpha : int
        Fairness budget in tokens, >= 0.

    Raises
    ------
    TypeError
        If ``inner`` is no policy.
    ValueError
        If alpha is no whole number >= 0.
    """

    def __init__(self, inner: Policy, alpha: int) -> None:
        self.inner = check_policy("inner", inner)
        self.alpha = check_alpha(alpha)
        if inner.alpha is not None:  # the inner policy keeps its own promise too
            self.alpha = min(self.alpha, inner.alpha)
        self.name = f"fair-{inner.name}"
        self.needs_upper = inner.needs_upper

    def begin(self, slots: int) -> None:
        self.inner.begin(slots)

    def join(self, request: int, size: int, release: float) -> None:
        self.inner.join(request, size, release)

    def decide(self, epoch: Epoch) -> Sequence[Admission]:
        return self.inner.decide(epoch)

    def explain(self, epoch: Epoch, answer: Sequence[Admission]) -> Explanation:
        test = f"A_max = {epoch.max_progress} <= alpha = {self.alpha}"
        inner = self.inner.explain(epoch, answer)
        return Explanation(test) if inner is None else Explanation(f"{test}; {inner.rule}", inner.requests)

    def rule(self) -> Rule | None:
        if self.inner.alpha is not None:  # a rule has one alpha
            return None
        return rule_of(self.inner)

    def describe(self) -> str:
        inner = self.inner.describe()
        if inner == self.inner.name:
            return f"{self.name}:alpha={self.alpha}"
        return f"fair:inner=({inner}),alpha={self.alpha}"
