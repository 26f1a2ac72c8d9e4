"""Notes what a policy is asked and answers, and its reasons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from serving_sim import Admission, Epoch, Explanation, Policy, PolicyError
from serving_sim.explanation import fits
from serving_sim.testing import PassThrough

MOST_EPOCHS = 10_000
"""Nobody steps through more, and every reason is kept."""


@dataclass(frozen=True)
class Decision:
    """One answer of a policy.

    Attributes
    ----------
    time : float
        When, in time units.
    step : int
        Busy steps before.
    joined : int
        Requests that had joined.
    answer : tuple of (request, slot)
        Who was admitted.
    reason : Explanation or None
        Why, if the policy tells.
    """

    time: float
    step: int
    joined: int
    answer: tuple[Admission, ...]
    reason: Explanation | None


class Observer(PassThrough):
    """``inner``, with its decisions written down, and the sizes it saw; the schedule is that of ``inner``.

    Parameters
    ----------
    inner : Policy
        The policy to watch.

    Raises
    ------
    ValueError
        During the run, at a decision beyond `MOST_EPOCHS`.
    PolicyError
        During the run, if ``inner`` gives a reason that is none.
    """

    def __init__(self, inner: Policy) -> None:
        super().__init__(inner)
        self.decisions: list[Decision] = []
        self.sizes: list[int] = []

    def begin(self, slots: int) -> None:
        """Forget the run before and pass the call on."""
        super().begin(slots)
        self.decisions, self.sizes = [], []
        self._waiting: set[int] = set()

    def join(self, request: int, size: int, release: float) -> None:
        """Note the size and pass the call on."""
        self.sizes.append(size)
        self._waiting.add(request)
        self.inner.join(request, size, release)

    def decide(self, epoch: Epoch) -> Sequence[Admission]:
        """Ask ``inner`` for its answer, then for its reason."""
        if len(self.decisions) == MOST_EPOCHS:
            raise too_many(epoch.now)
        time, step, joined = epoch.now, epoch.step, epoch.joined
        answer = self.inner.decide(epoch)
        reason = self.inner.explain(epoch, answer)
        if not fits(reason, self._waiting):
            raise PolicyError(
                f"policy {self.inner.describe()} at time {time:.15g}: explain must return None, or an "
                f"Explanation with texts about requests that wait or enter, found {reason!r:.200}"
            )
        self._waiting.difference_update(request for request, _ in answer)
        self.decisions.append(Decision(time, step, joined, tuple(answer), reason))
        return answer


def too_many(time: float) -> ValueError:
    """The refusal of a run that has reached ``time`` and more epochs than anybody watches."""
    return ValueError(
        f"the run has more than {MOST_EPOCHS:,} epochs, the most to watch, after time {time:.6g}: take fewer "
        "requests with --num-prompts, or of a file a window with --from and --for"
    )
