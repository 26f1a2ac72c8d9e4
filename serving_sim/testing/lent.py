"""The epoch as a checked policy gets it: for the time of one decision, and to look at."""

from __future__ import annotations

from typing import NoReturn

from serving_sim.epoch import Epoch
from serving_sim.errors import PolicyError
from serving_sim.testing.breaches import EpochError, WakeUpError


class LentEpoch:
    """Stands in for an `Epoch` during one decision and passes on what a policy may do with it.

    Parameters
    ----------
    epoch : Epoch
        What the policy would have got.
    label : str
        The policy in messages.
    joined : int
        Requests that have joined.
    """

    _epoch: Epoch
    _joined: int
    _where: str
    _open: bool
    _in: int | None

    def __init__(self, epoch: Epoch, label: str, joined: int) -> None:
        # straight into the dictionary, since assignment is what this class refuses
        self.__dict__.update(
            _epoch=epoch, _joined=joined, _where=f"policy {label} at time {epoch.now}", _open=True, _in=None
        )

    def interval(self, request: int) -> tuple[int, int]:
        """See `Epoch.interval`."""
        self._check_open("interval")
        if not 0 <= request < self._joined:
            self._refuse(
                "the bounds of a request that has joined to be asked for",
                f"epoch.interval({request})",
                "the number does not come from join",
            )
        try:
            return self._epoch.interval(request)
        except PolicyError:
            self._refuse(
                "the bounds of a request that waits or is served to be asked for",
                f"epoch.interval({request})",
                "the policy remembers a request that has finished",
            )

    def wake_in(self, steps: int) -> None:
        """See `Epoch.wake_in`."""
        self._wake("wake_in", steps, "a whole number of steps >= 1")
        self.__dict__["_in"] = steps  # one that is refused is none

    def wake_at(self, instant: float) -> None:
        """See `Epoch.wake_at`."""
        self._wake("wake_at", instant, "an instant in the future")

    def give_back(self, *, admits: bool) -> None:
        """The decision is over; ``admits`` says whether it admits anybody."""
        self.__dict__["_open"] = False
        if self._in is not None and not (admits or self._epoch.active):
            raise WakeUpError.at(
                self._where,
                expected="wake_at while the worker is empty, or an admission",
                found=f"wake_in({self._in}) and no admission",
                cause="an empty worker takes no steps that could be counted",
            )

    def __getattr__(self, name: str) -> object:
        if name.startswith("_"):
            self._refuse(
                "the public part of the epoch to be used",
                f"epoch.{name}",
                "the policy wants to know more than the contract shows",
            )
        self._check_open(name)
        return getattr(self._epoch, name)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        self._refuse(
            "the epoch to be left as it is",
            f"epoch.{name} = {value!r:.80}",
            "what the policy wants to remember belongs on self",
        )

    def _wake(self, hook: str, value: float, rule: str) -> None:
        self._check_open(hook)
        try:
            getattr(self._epoch, hook)(value)
        except PolicyError as refusal:
            raise WakeUpError.at(
                self._where,
                expected=rule,
                found=f"{hook}({value!r})",
                cause="what the policy waits for has come already",
            ) from refusal

    def _check_open(self, name: str) -> None:
        if not self._open:
            self._refuse(
                "the epoch of this decision to be used during this decision only",
                f"epoch.{name} after the answer",
                "the policy keeps the epoch instead of the numbers it needs",
            )

    def _refuse(self, expected: str, found: str, cause: str) -> NoReturn:
        raise EpochError.at(self._where, expected=expected, found=found, cause=cause)
