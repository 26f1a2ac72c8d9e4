"""What the kernel counts beside the exact sums: written all the time, never read to decide anything."""

from __future__ import annotations

from typing import Any

import numpy as np

from serving_sim.audit import Audit, Violation

_TALLY = np.dtype(
    [
        *((name, np.int64) for name in ("epochs", "decisions", "steps")),
        *((name, np.float64) for name in ("makespan", "busy_time")),
        *((name, np.int64) for name in ("max_gap", "violations", "violation_steps")),
        ("first_time", np.float64),
        *((f"first_{name}", np.int64) for name in ("step", "request", "slot", "other", "other_slot", "gap")),
    ]
)
"""Fields of `serving_sim.record.Totals`, of `serving_sim.audit.Audit` and of its first violation."""

Tally = Any
"""A record of type `_TALLY`; Any, since its fields are attributes to the kernel only."""


def make_tally() -> Tally:
    """Nothing has happened; the run is at its first epoch."""
    tally = np.rec.array(np.zeros(1, _TALLY))[0]
    tally.epochs = 1
    return tally


def audit_of(tally: Tally, alpha: int | None) -> Audit:
    """The audit against a budget of ``alpha`` tokens."""
    first = Violation(
        time=float(tally.first_time),
        step=int(tally.first_step),
        request=int(tally.first_request),
        slot=int(tally.first_slot),
        other=int(tally.first_other),
        other_slot=int(tally.first_other_slot),
        gap=int(tally.first_gap),
    )
    return Audit(
        alpha=alpha,
        max_gap=int(tally.max_gap),
        violations=int(tally.violations),
        violation_steps=int(tally.violation_steps),
        first=first if tally.violations else None,
    )
