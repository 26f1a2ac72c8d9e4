"""Simulated time: a SimPy environment that can be told an absolute instant."""

from __future__ import annotations

from heapq import heappush
from typing import Any

import simpy

SOON = 1
"""Priority of everything a source does (SimPy's NORMAL); interruptions come before it."""
LAST = 2
"""Priority of the worker's epochs: it looks after all others have acted at the same instant."""


class Alarm(simpy.Event):
    """An event that rings at a set instant and can be set again after it rang.

    One object serves all epochs of a run; a fresh `simpy.Timeout` for each would cost as much as
    the rest of the epoch.
    """

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock)
        self._ok = True
        self._value = None


class Clock(simpy.Environment):
    """SimPy's environment with alarms at absolute instants.

    ``timeout(delay)`` rings at ``now + delay``, which can miss the wanted instant by a rounding
    error; a step boundary must not be missed. Ties of instant and priority ring in the order in
    which they were set (SimPy's serial number), so a run is deterministic.
    """

    def __init__(self) -> None:
        super().__init__(initial_time=0.0)

    def set_alarm(self, alarm: Alarm, instant: float, priority: int = LAST) -> Alarm:
        """Make ``alarm`` ring at ``instant``; it must not be pending."""
        alarm.callbacks = []
        entry: Any = (instant, priority, next(self._eid), alarm)  # SimPy types its queue more narrowly
        heappush(self._queue, entry)
        return alarm
