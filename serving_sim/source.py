"""The contracts that sources of requests keep."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import simpy

if TYPE_CHECKING:
    from serving_sim.arrivals import Desk
    from serving_sim.request import Workload

Process = Generator[simpy.Event, Any, None]
"""A SimPy process: yields the events it waits for."""


@runtime_checkable
class OpenSource(Protocol):
    """Requests that come whatever the worker does.

    The worker looks ahead for the next release, so such a stream costs no simulation events.
    """

    def blocks(self) -> Iterator[Workload]:
        """Consecutive parts of the stream.

        Each block is sorted by release, starts no earlier than the one before it ended and has the same
        columns. With a sink only blocks with unfinished requests stay in memory; ids are then held against
        one another within a block alone, so that it is for the source to keep them apart.
        """


class ReactiveSource(ABC):
    """Requests that depend on what happens: adversaries, users who wait for an answer."""

    @abstractmethod
    def process(self, desk: Desk) -> Process:
        """Release requests through ``desk`` and wait for their fates.

        The generator is a SimPy process: it may yield ``desk.at(time)``, ``desk.started(request)``
        and ``desk.finished(request)``, and start further processes with ``desk.spawn``. The
        source is finished when all of them have ended. One that waits on timers for ever keeps the
        run going for ever; only waits that can no longer end are found out.
        """
