"""What a run leaves behind: columns per request and exact totals."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from serving_sim.audit import Audit
from serving_sim.request import FloatArray, IntArray, Workload
from serving_sim.steptime import StepTime

SlotArray = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Served:
    """Requests of one block with their fates, row for row.

    Attributes
    ----------
    requests : Workload
        The block.
    start, first_token, finish : ndarray of float, shape (n,)
        As in `Run`.
    slot : ndarray of int, shape (n,)
        As in `Run`.
    """

    requests: Workload
    start: FloatArray
    first_token: FloatArray
    finish: FloatArray
    slot: SlotArray


@runtime_checkable
class Sink(Protocol):
    """Takes finished requests out of memory, block by block in arrival order."""

    def write(self, served: Served) -> None:
        """Store one block of finished requests."""


@dataclass(frozen=True, eq=False)
class Batches:
    """Spans of constant batch, one row each (``--record-batches``).

    Attributes
    ----------
    time : ndarray of float, shape (k,)
        Start of the span in time units.
    steps : ndarray of int, shape (k,)
        Steps the span lasted; idle time between spans has no row.
    active, waiting : ndarray of int, shape (k,)
        Requests in the batch, and requests waiting when the span started.
    max_progress, min_progress : ndarray of int, shape (k,)
        Progress in tokens at the start of the span.
    """

    time: FloatArray
    steps: IntArray
    active: IntArray
    waiting: IntArray
    max_progress: IntArray
    min_progress: IntArray


@dataclass(frozen=True)
class Totals:
    """Exact counters of a run; tokens, steps and their products are integers."""

    requests: int
    tokens: int
    """Sum of lengths (the paper's O)."""
    intrinsic: int
    """Q, intrinsic work (Yao and Zhou, equation 5)."""
    steps: int
    """T, busy steps."""
    externality: int
    """E, batching externality (Yao and Zhou, equation 6)."""
    gap_steps: int
    """Sum over busy steps of the gap."""
    makespan: float
    """Last finish, in time units from 0."""
    busy_time: float
    """Time units with a non-empty batch."""
    residence: float
    """Sum over requests of finish - start, in time units."""
    epochs: int
    """Instants at which the worker looked at its batch."""
    decisions: int
    """Times the policy was asked."""
    events: int
    """SimPy events processed; the compiled engine has none."""


@dataclass(frozen=True, eq=False)
class Run:
    """A finished run: one policy on one stream of requests.

    Per-request arrays have shape (n,) and stand in input order; times are in time units.
    They are empty where the requests went to a sink.

    Attributes
    ----------
    policy : str
        Name and parameters as the command line writes them.
    slots : int
        Most requests in a batch.
    step_time : StepTime
        Duration of a step.
    slotted : bool
        Whether an empty worker kept the grid of steps too.
    engine : str
        Who played the run; the results are the same.
    requests : Workload or None
        What was released, for a reactive source too; None where it went to a sink.
    start : ndarray of float, shape (n,)
        Instants of admission.
    first_token : ndarray of float, shape (n,)
        End of the step that made the first output token; NaN where the workload says that there is none.
    finish : ndarray of float, shape (n,)
        End of the last step.
    slot : ndarray of int, shape (n,)
        Slots that the requests had.
    totals : Totals
        Exact counters.
    audit : Audit
        What became of constraint (1).
    batches : Batches or None
        Spans of constant batch, where they were recorded.
    """

    policy: str
    slots: int
    step_time: StepTime
    slotted: bool
    engine: Literal["simpy", "compiled"]
    requests: Workload | None
    start: FloatArray
    first_token: FloatArray
    finish: FloatArray
    slot: SlotArray
    totals: Totals
    audit: Audit
    batches: Batches | None

    @property
    def steps(self) -> int:
        """T, the number of busy steps."""
        return self.totals.steps

    @property
    def externality(self) -> int:
        """E, the batching externality in token steps (Yao and Zhou, equation 6)."""
        return self.totals.externality

    @property
    def intrinsic(self) -> int:
        """Q, the intrinsic work in token steps (Yao and Zhou, equation 5)."""
        return self.totals.intrinsic

    @property
    def makespan(self) -> float:
        """Last finish, in time units from 0."""
        return self.totals.makespan

    @property
    def max_gap(self) -> int:
        """Largest gap over all busy steps, in tokens."""
        return self.audit.max_gap

    @cached_property
    def extent_mean(self) -> float:
        """Mean gap over busy steps, in tokens."""
        return self.totals.gap_steps / self.totals.steps

    @cached_property
    def occupancy(self) -> float:
        """Mean number of active requests over busy steps; one token a request and step."""
        return self.totals.tokens / self.totals.steps

    @cached_property
    def occupancy_all_time(self) -> float:
        """Time average of the number of active requests over [0, makespan]."""
        return self.totals.residence / self.totals.makespan

    @cached_property
    def throughput(self) -> float:
        """Tokens per time unit over the makespan (Yao and Zhou, section 2)."""
        return self.totals.tokens / self.totals.makespan
