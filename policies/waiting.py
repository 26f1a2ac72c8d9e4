"""Wrappers that keep the worker idle on purpose: waiting for company that may arrive."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush

from policies.parameters import check_policy
from serving_sim import Admission, Epoch, Explanation, Policy
from serving_sim.arguments import is_finite


class Delayed(Policy):
    """Keep a request that finds the worker empty waiting, then act as ``inner``.

    A request that joins while the worker is empty is shown to the inner policy no earlier than
    ``x * size`` after its release; all others at once. The inner policy counts the requests it is
    shown, so it must not look them up in the epoch by number. The knob of the release-time lower bound
    (Yao and Zhou, proposition 3.27): x = (sqrt(5) - 1) / 2 balances its two continuations.

    Parameters
    ----------
    inner : Policy
        Who decides among the requests shown to it.
    x : float
        Delay in time units per token of size, finite and >= 0.

    Raises
    ------
    TypeError
        If ``inner`` is no policy.
    ValueError
        If x is not a finite number >= 0.
    """

    name = "delayed"

    def __init__(self, inner: Policy, x: float) -> None:
        self.inner = check_policy("inner", inner)
        self.x = _duration("x", x)
        self.alpha = inner.alpha
        self.needs_upper = inner.needs_upper

    def describe(self) -> str:
        return f"{self.name}:x={self.x!r},inner=({self.inner.describe()})"

    def begin(self, slots: int) -> None:
        self.inner.begin(slots)
        self._joined: list[tuple[int, int, float]] = []  # not looked at yet
        self._held: list[tuple[float, int, int, float]] = []  # heap by the end of the delay
        self._shown: dict[int, int] = {}  # the inner policy's number of a request -> ours
        self._count = 0

    def join(self, request: int, size: int, release: float) -> None:
        self._joined.append((request, size, release))

    def decide(self, epoch: Epoch) -> Sequence[Admission]:
        empty = not epoch.active
        for request, size, release in self._joined:
            # a release in mid-step found the batch that has just ended still busy
            if empty and release >= epoch.idle_since:
                heappush(self._held, (release + self.x * size, request, size, release))
            else:
                self._show(request, size, release)
        self._joined.clear()
        while self._held and self._held[0][0] <= epoch.now:
            self._show(*heappop(self._held)[1:])
        if self._held:
            epoch.wake_at(self._held[0][0])
        if not self._shown:
            return ()
        self._inner_answer = self.inner.decide(epoch)
        return [(self._shown.pop(number), slot) for number, slot in self._inner_answer]

    def explain(self, epoch: Epoch, answer: Sequence[Admission]) -> Explanation | None:
        held = {
            request: f"found the worker empty, held until {end:.15g}"
            for end, request, *_ in sorted(self._held)
        }
        if not (answer or self._shown):
            return Explanation("all that wait found the worker empty and are held", held)
        inner = self.inner.explain(epoch, self._inner_answer)
        if inner is None:
            return Explanation("the others are shown to the inner policy", held) if held else None
        pairs = zip(self._inner_answer, answer, strict=True)
        ours = {**self._shown, **{number: request for (number, _), (request, _) in pairs}}
        shown = {ours[number]: reason for number, reason in inner.requests.items()}
        return Explanation(inner.rule, {**shown, **held})

    def _show(self, request: int, size: int, release: float) -> None:
        # policies may rely on consecutive numbers, and delays change the order
        self._shown[self._count] = request
        self.inner.join(self._count, size, release)
        self._count += 1


class Windowed(Policy):
    """After the worker empties, collect arrivals for ``w`` time units before ``inner`` acts.

    The window opens at the instant at which the worker becomes empty (at 0 in the beginning); a
    request released after it has closed is not delayed.

    Parameters
    ----------
    inner : Policy
        Who decides once the window is over, and while the worker is busy.
    w : float
        Length of the window in time units, finite and >= 0.

    Raises
    ------
    TypeError
        If ``inner`` is no policy.
    ValueError
        If w is not a finite number >= 0.
    """

    name = "windowed"

    def __init__(self, inner: Policy, w: float) -> None:
        self.inner = check_policy("inner", inner)
        self.w = _duration("w", w)
        self.alpha = inner.alpha
        self.needs_upper = inner.needs_upper

    def describe(self) -> str:
        return f"{self.name}:w={self.w!r},inner=({self.inner.describe()})"

    def begin(self, slots: int) -> None:
        self.inner.begin(slots)

    def join(self, request: int, size: int, release: float) -> None:
        self.inner.join(request, size, release)

    def decide(self, epoch: Epoch) -> Sequence[Admission]:
        closes = epoch.idle_since + self.w
        if not epoch.active and epoch.now < closes:
            epoch.wake_at(closes)
            return ()
        return self.inner.decide(epoch)

    def explain(self, epoch: Epoch, answer: Sequence[Admission]) -> Explanation | None:
        closes = epoch.idle_since + self.w
        if not epoch.active and epoch.now < closes:
            return Explanation(
                f"the worker became empty at {epoch.idle_since:.15g}: arrivals gather until {closes:.15g}"
            )
        return self.inner.explain(epoch, answer)


def _duration(name: str, value: float) -> float:
    if not (is_finite(value) and value >= 0):
        raise ValueError(f"{name}={value!r}: must be a finite number >= 0")
    return float(value)
