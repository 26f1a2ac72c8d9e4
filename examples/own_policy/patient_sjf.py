"""Shortest job first, as long as nobody has to wait too long for it."""

from collections.abc import Sequence

from serving_sim import Admission, Epoch, Explanation, Policy


class PatientSJF(Policy):
    """The smallest request first, but those that have waited ``patience`` go before, oldest first.

    Ties go to the earlier arrival. O(waiting requests) an admission.

    Parameters
    ----------
    patience : float
        Time units for which a request lets smaller ones pass, >= 0.
    """

    name = "patient-sjf"

    def __init__(self, patience: float) -> None:
        if not patience >= 0:
            raise ValueError(f"patience={patience!r}: must be a number >= 0")
        self.patience = patience

    def describe(self) -> str:
        """Name and parameters as the command line writes them."""
        return f"{self.name}:patience={self.patience:g}"

    def begin(self, slots: int) -> None:
        """Nobody waits, whatever happened before."""
        self._waiting: dict[int, tuple[int, float]] = {}  # in order of arrival

    def join(self, request: int, size: int, release: float) -> None:
        """One more waits."""
        self._waiting[request] = (size, release)

    def decide(self, epoch: Epoch) -> Sequence[Admission]:
        """Fill the free slots."""
        return [(self._next(epoch.now), slot) for slot in epoch.lowest(len(self._waiting))]

    def explain(self, epoch: Epoch, answer: Sequence[Admission]) -> Explanation:
        """The rule, for those who watch a run."""
        return Explanation(f"the smallest first, but those that have waited {self.patience:g} before it")

    def _next(self, now: float) -> int:
        chosen = next(iter(self._waiting))
        if now - self._waiting[chosen][1] < self.patience:
            chosen = min(self._waiting, key=lambda request: self._waiting[request][0])
        del self._waiting[chosen]
        return chosen
