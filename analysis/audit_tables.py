"""What audits of constraint (1) found, as tables for terminal and report."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.outcome import Outcome
from analysis.tables import Table
from analysis.text import ABSENT, number
from analysis.time_unit import TimeUnit
from serving_sim import Audit

_HEADER = ("policy", "alpha", "max gap", "admissions beyond", "steps beyond", "first at")


def audit_table(outcomes: Sequence[Outcome], time_unit: TimeUnit) -> Table:
    """The audit of every policy over all its replications."""
    rows = [_row(outcome.policy, _in_steps(outcome)) for outcome in outcomes]
    title = f"audit of the gap, in {time_unit.in_service('tokens')}; first breach in {time_unit.plural}"
    return Table(title, _HEADER, rows)


def token_audit_tables(outcomes: Sequence[Outcome]) -> list[Table]:
    """Audits with progress in steps and in tokens side by side; no table where nobody asked for it."""
    rows = [
        _row(f"{outcome.policy}, in {counted}", audits)
        for outcome in outcomes
        for counted, audits in (("steps", _in_steps(outcome)), ("tokens", outcome.token_audits))
        if outcome.token_audits
    ]
    title = "audit of the gap, in steps and in prompt and output tokens; the last column is a time"
    return [Table(title, _HEADER, rows)] if rows else []


def _in_steps(outcome: Outcome) -> Sequence[Audit]:
    return [run.audit for run in outcome.runs]


def _row(name: str, audits: Sequence[Audit]) -> tuple[str, ...]:
    first = next((audit.first for audit in audits if audit.first is not None), None)
    alpha = audits[0].alpha
    return (
        name,
        ABSENT if alpha is None else f"{alpha:,}",
        f"{max(audit.max_gap for audit in audits):,}",
        ABSENT if alpha is None else f"{sum(audit.violations for audit in audits):,}",
        ABSENT if alpha is None else f"{sum(audit.violation_steps for audit in audits):,}",
        ABSENT if first is None else number(first.time),
    )
