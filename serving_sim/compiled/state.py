"""Where the kernel stands when it pauses, in numbers; what is held in arrays stands beside it."""

from __future__ import annotations

from typing import NamedTuple

NEVER = 2**62
"""A step no run reaches, and a budget no progress exceeds."""


class State(NamedTuple):
    """The local names of the loop, which the kernel takes over and hands back; by default at time 0.

    The names are those of `serving_sim.worker.Worker.run`; here is what it does not have.

    Attributes
    ----------
    over : bool
        Whether all requests of a stream that has ended were served.
    changed : bool
        Whether the batch has changed at this epoch.
    early : bool
        Whether a pack request may have ended before its projected end.
    planned : bool
        Whether phase ONE of ISJL holds requests back.
    dating : int
        Requests whose first token is not dated yet.
    firsts_logged, finishes_logged, changes_logged : int
        What was written into the log; admissions are counted by ``admitted`` from the start of the run.
    produced, taken_at : int
        Tokens so far less ``active * step``, and sum of the admission steps of the batch; both wrap
        around, but what is read of them does not.
    gap_mark, work_mark : int
        Step up to which the gaps, and work up to which the externality are settled.
    """

    over: bool = False
    step: int = 0
    now: float = 0.0
    changed: bool = False
    anchor: float = 0.0
    anchor_step: int = 0
    wake_step: int = NEVER
    joined: int = 0
    admitted: int = 0
    waiting: int = 0
    active: int = 0
    dating: int = 0
    planned: bool = False
    early: bool = False
    firsts_logged: int = 0
    finishes_logged: int = 0
    changes_logged: int = 0
    produced: int = 0
    taken_at: int = 0
    last_end: int = 0
    oldest: int = 0
    newest: int = 0
    gap_mark: int = 0
    work_mark: int = 0
    busy_since: float = 0.0
