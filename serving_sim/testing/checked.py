"""A wrapper that checks every call of a run, for production runs too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from serving_sim.epoch import Epoch
from serving_sim.policy import Admission
from serving_sim.testing.books import Books
from serving_sim.testing.lent import LentEpoch
from serving_sim.testing.passthrough import PassThrough


class Checked(PassThrough):
    """``inner``, with every call and every answer held against books of its own.

    The schedule is that of ``inner`` alone, and so is the name. What is checked, beyond what the
    worker refuses anyway: calls come in order and time runs forwards, the slots shown are those
    that were given and not freed since, the answer has the right form, admits waiting requests
    to free slots within capacity and within the alpha that ``inner`` promises, wake-ups lie ahead,
    and the epoch is neither changed nor used after the answer.

    Parameters
    ----------
    inner : Policy
        The policy to watch.

    Raises
    ------
    BreachError
        A `PolicyError` at the first call that breaks a rule; it names policy, time and request.

    Notes
    -----
    Adds O(slots) to a decision.
    """

    def begin(self, slots: int) -> None:
        """Open new books and pass the call on."""
        super().begin(slots)
        self._label = self.describe()
        self._books = Books(self._label, slots, self.alpha)

    def join(self, request: int, size: int, release: float) -> None:
        """Enter the request and pass the call on."""
        self._books.join(request, release)
        self.inner.join(request, size, release)

    def decide(self, epoch: Epoch) -> Sequence[Admission]:
        """Lend the epoch to the inner policy and check its answer."""
        self._books.ask(epoch)
        lent = LentEpoch(epoch, self._label, self._books.joined)
        answer = self.inner.decide(cast("Epoch", lent))
        self._books.answer(answer)
        lent.give_back(admits=bool(answer))
        return answer
