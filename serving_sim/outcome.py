"""What an engine tells of a run, beside the fates it wrote into the ledger."""

from __future__ import annotations

from dataclasses import dataclass

from serving_sim.audit import Audit
from serving_sim.record import Batches


@dataclass(frozen=True)
class Outcome:
    """Counters as in `serving_sim.record.Totals`; requests are numbered in arrival order."""

    steps: int
    externality: int
    gap_steps: int
    makespan: float
    busy_time: float
    epochs: int
    decisions: int
    events: int
    audit: Audit
    batches: Batches | None
