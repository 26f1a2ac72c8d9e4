"""How requests reach the worker: a look-ahead for open streams, a desk for reactive sources."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any, NoReturn

import simpy

from serving_sim.arguments import is_finite, is_whole
from serving_sim.clock import SOON, Alarm, Clock
from serving_sim.errors import SourceError
from serving_sim.ledger import Ledger
from serving_sim.request import Workload
from serving_sim.source import Process, ReactiveSource

MOST_ACTIONS = 1_000_000
"""Releases, waits and new processes of a source at one instant; one more counts as a hang."""


class OpenStream:
    """Feeds blocks of an open-loop source into the ledger, one block ahead of the worker."""

    def __init__(self, blocks: Iterator[Workload], ledger: Ledger, name: str) -> None:
        self._blocks = blocks
        self._ledger = ledger
        self._source = f"source {name}"
        self._columns: tuple[str, ...] = ()
        self._ahead: deque[Workload] = deque()
        self._last = 0.0

    def has(self, count: int) -> bool:
        """Whether at least ``count`` requests are to come; reads ahead until that is known."""
        coming = sum(map(len, self._ahead))
        while coming < count:
            block = next(self._blocks, None)
            if block is None:
                return False
            self._ahead.append(block)
            coming += len(block)
        return True

    @property
    def ahead(self) -> Sequence[Workload]:
        """Blocks that have been read and not been handed out."""
        return self._ahead

    def refill(self) -> Workload | None:
        """Append the next block to the ledger and return it; None once the stream has ended."""
        block = self._ahead.popleft() if self._ahead else next(self._blocks, None)
        if block is None:
            return None
        first = block.release[0]
        if first < self._last:
            raise SourceError(
                f"{self._source}: blocks must be sorted by release, found {first} after {self._last}"
            )
        if block.arrival_order is not None:
            raise SourceError(f"{self._source}: the block from time {first} on must be sorted by release")
        self._columns = _same_columns(f"{self._source} at time {first}", block, self._columns)
        self._last = float(block.release[-1])
        self._ledger.append(block)
        return block


class Desk:
    """Where a reactive source releases requests and hears of their fates.

    Everything happens in simulated time: a source acts while one of its processes runs, and the
    worker sees a release at the epoch the model names. At one instant the worker first completes
    requests, then the source reacts, then what it released joins, then the policy decides.
    """

    def __init__(self, clock: Clock, ledger: Ledger, source: ReactiveSource) -> None:
        self._clock = clock
        self._ledger = ledger
        self._name = type(source).__name__
        self._columns: tuple[str, ...] = ()
        self._started: dict[int, simpy.Event] = {}
        self._finished: dict[int, simpy.Event] = {}
        self._running = 0
        self._instant = 0.0
        self._actions = 0  # at this instant
        self.worker: simpy.Process | None = None
        self.decider: simpy.Process | None = None
        self.failure: BaseException | None = None
        self.spawn(source.process(self))

    @property
    def now(self) -> float:
        """The instant, in time units."""
        return self._clock.now

    @property
    def running(self) -> int:
        """Processes of the source that have not ended."""
        return self._running

    def spawn(self, process: Process) -> None:
        """Start a process of the source beside those that run.

        Raises
        ------
        SourceError
            If it is no generator, or the source acts without end at one instant.
        """
        self._count_action()
        if not isinstance(process, Generator):
            self._refuse(f"a process must be a generator, which yields events, found {process!r:.80}")
        self._running += 1
        self._clock.process(self._guard(process))

    def at(self, instant: float) -> simpy.Event:
        """Event that rings at ``instant``, in time units.

        Raises
        ------
        SourceError
            If the instant lies in the past or is not finite, or the source acts without end at one.
        """
        self._count_action()
        if not (is_finite(instant) and self.now <= instant):
            self._refuse(f"cannot wait for {instant!r}")
        return self._clock.set_alarm(Alarm(self._clock), float(instant), SOON)

    def refill(self) -> None:
        """A reactive source has no next block to look at."""

    def release(
        self,
        length: int,
        *,
        request_id: str | None = None,
        prompt_tokens: int | None = None,
        output_tokens: int | None = None,
        lower: int | None = None,
        upper: int | None = None,
        tenant: str | None = None,
        prompt_steps: int | None = None,
        model: str | None = None,
    ) -> int:
        """Release a request now and return its number.

        Parameters
        ----------
        length : int
            Steps it needs, >= 1.
        prompt_tokens, output_tokens, lower, upper, prompt_steps : int, optional
            Tokens and steps, as in `Workload`; a source gives a column for all its requests or for none.
        request_id, tenant, model : str, optional
            Names, as in `Workload`.

        Raises
        ------
        ValueError
            If a value breaks a rule of `Workload`.
        SourceError
            If the policy calls it, if the columns are not those of the first request, or if the source
            acts without end at one instant.
        """
        self._count_action()
        if self.decider is not None and self._clock.active_process is self.decider:
            self._refuse("only a process of the source may release, not the policy while the worker asks it")
        released = Workload(
            [self.now],
            [length],
            request_id=None if request_id is None else [request_id],
            prompt_tokens=None if prompt_tokens is None else [prompt_tokens],
            output_tokens=None if output_tokens is None else [output_tokens],
            lower=None if lower is None else [lower],
            upper=None if upper is None else [upper],
            tenant=None if tenant is None else [tenant],
            prompt_steps=None if prompt_steps is None else [prompt_steps],
            model=None if model is None else [model],
        )
        self._columns = _same_columns(f"source {self._name} at time {self.now}", released, self._columns)
        request = self._ledger.append(released)
        if self.worker is not None:
            self.worker.interrupt()
            self.worker = None  # one interruption makes it look; it listens again when it waits
        return request

    def started(self, request: int) -> simpy.Event:
        """Event that rings with the instant at which the worker starts ``request``, in time units.

        Raises
        ------
        SourceError
            If there is no such request, or it has left memory for the sink.
        """
        return self._fate(self._started, self._ledger.started_at, request)

    def finished(self, request: int) -> simpy.Event:
        """Event that rings with the instant at which ``request`` has its last token, in time units.

        Raises
        ------
        SourceError
            If there is no such request, or it has left memory for the sink.
        """
        return self._fate(self._finished, self._ledger.finished_at, request)

    def tell_started(self, request: int) -> None:
        """The worker says: ``request`` was admitted at this instant."""
        self._tell(self._started, request)

    def tell_finished(self, request: int) -> None:
        """The worker says: ``request`` did its last step at this instant."""
        self._tell(self._finished, request)

    def _fate(
        self, waiting: dict[int, simpy.Event], recorded: Callable[[int], float | None], request: int
    ) -> simpy.Event:
        self._count_action()
        if not (is_whole(request) and 0 <= request < self._ledger.known):
            self._refuse(f"there is no request {request!r}")
        request = int(request)
        if request < self._ledger.base:
            self._refuse(f"request {request} has left memory for the sink")
        instant = recorded(request)
        if instant is not None:  # it happened before anyone asked
            return self._clock.event().succeed(instant)
        return waiting.setdefault(request, self._clock.event())

    def _count_action(self) -> None:
        """A source that always acts once more at the same instant would stop time."""
        if self._instant != self.now:
            self._instant, self._actions = self.now, 0
        self._actions += 1
        if self._actions > MOST_ACTIONS:
            self._refuse(f"has acted {MOST_ACTIONS:,} times without letting time pass")

    def _tell(self, waiting: dict[int, simpy.Event], request: int) -> None:
        event = waiting.pop(request, None)
        if event is not None:
            event.succeed(self.now)

    def _guard(self, process: Process) -> Process:
        # SimPy would rebuild an exception from its arguments; keep the original for the caller
        try:
            yield from self._events(process)
        except GeneratorExit:  # this process is collected, or the source has raised it: SimPy passes it on
            raise
        except BaseException as failure:  # noqa: BLE001  (`simulate` raises it)
            self.failure = failure
            raise simpy.core.StopSimulation(None) from None
        self._running -= 1  # not in a finally: a collected generator has not ended, it waits in vain

    def _events(self, process: Process) -> Process:
        """What a process yields, as ``yield from`` would, but what is no event is refused by our words."""
        proceed: Callable[[Any], object] = process.send
        told: Any = None
        while True:
            try:
                event = proceed(told)
            except StopIteration:
                return
            if not isinstance(event, simpy.Event):
                self._refuse(f"a process must yield events, as desk.at gives them, found {event!r:.80}")
            try:
                proceed, told = process.send, (yield event)
            except BaseException as failure:  # noqa: BLE001  (it is for the process to deal with)
                proceed, told = process.throw, failure

    def _refuse(self, what: str) -> NoReturn:
        raise SourceError(f"source {self._name} at time {self.now}: {what}")


def _same_columns(where: str, block: Workload, first: tuple[str, ...]) -> tuple[str, ...]:
    """The columns of a block, which must be those of the first one; of that there are none before it."""
    columns = block.columns
    if first and columns != first:
        raise SourceError(
            f"{where}: all requests must have the columns of the first, {', '.join(first)}, "
            f"found {', '.join(columns)}"
        )
    return columns
