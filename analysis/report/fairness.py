"""The section of a report that holds every policy against constraint (1)."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.audit_tables import audit_table, token_audit_tables
from analysis.outcome import Outcome
from analysis.plots import gap_against_throughput, gap_over_time
from analysis.report.pictures import Picture
from analysis.report.section import Section
from analysis.sequential import percent
from analysis.time_unit import TimeUnit
from serving_sim import Audit
from serving_sim.how_many import how_many

_MEASURES = (
    (
        "The gap is the distance in tokens between the furthest and the last request of the batch. A batch "
        "is alpha-fair while the gap is at most alpha (Yao and Zhou, constraint 1); the audit looks at every "
        "step, whatever a policy promises."
    ),
    (
        "Requests that must not mix leave slots empty. So fairness is paid for in tokens a busy step, which "
        "is what a worker that never rests makes."
    ),
)


def fairness_section(outcomes: Sequence[Outcome], time_unit: TimeUnit) -> Section:
    """Audit of every policy, its gap over time, and gap against throughput.

    Parameters
    ----------
    outcomes : sequence of Outcome
        Policies whose runs recorded their batches.
    time_unit : TimeUnit
        What the runs count time in.
    """
    pictures = [
        Picture(
            "gap-over-time",
            "The gap over time",
            "The largest gap in each bin of time, one strip a policy, in the first replication. What stands "
            "above the dashed line breaks alpha.",
            gap_over_time(outcomes, time_unit=time_unit),
        ),
        Picture(
            "gap-against-throughput",
            "What fairness costs in throughput",
            time_unit.in_service(
                "Each policy by its mean gap and the tokens it makes in a busy step. Further up is faster, "
                "further left is fairer. The line joins the policies that no other beats in both: what is "
                "fairer there is slower."
            ),
            gap_against_throughput(outcomes, time_unit=time_unit),
        ),
    ]
    tables = token_audit_tables(outcomes) or [audit_table(outcomes, time_unit)]
    measures = [time_unit.in_service(text) for text in _MEASURES]
    return Section("fairness", "Fairness", measures, _found(outcomes), tables, pictures)


def _found(outcomes: Sequence[Outcome]) -> list[str]:
    found = []
    for outcome in outcomes:
        found += _verdict(outcome.policy, outcome, [run.audit for run in outcome.runs])
        found += _verdict(f"{outcome.policy}, counted in tokens,", outcome, outcome.token_audits)
    return found or ["No alpha was given, so nothing was held against one."]


def _verdict(who: str, outcome: Outcome, audits: Sequence[Audit]) -> list[str]:
    """One sentence; none without audits or without an alpha."""
    if any(audit.fair is False for audit in audits):
        steps = sum(audit.violation_steps for audit in audits)
        share = steps / sum(run.steps for run in outcome.runs)
        counted = how_many(steps, "busy step")
        return [f"{who} breaks alpha in {counted}, {percent(share)} of all."]
    return [f"{who} keeps alpha throughout."] if any(audit.fair for audit in audits) else []
