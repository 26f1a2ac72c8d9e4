"""The first violation of constraint (1) in a run, as a small picture in text."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.marks import marks, progress_bar, unit_for
from analysis.printed_isjl import explain, request_name
from analysis.spans import first_spans, span_steps
from serving_sim import Audit, Run, Violation

_WIDTH = 40
"""Most marks of a progress bar; longer requests count several tokens a mark."""


def audit_text(run: Run) -> str:
    """What the fairness audit of a run found: a line, and for a violation a picture of the first one.

    A bar stands for a request in the batch, ``#`` for tokens made and ``.`` for tokens to come; ``>``
    marks who enters. Below, alpha and the gap are drawn to the same scale. Slots that idle are left out.

    Parameters
    ----------
    run : Run
        A run with a fairness budget that kept its requests and, if it broke the budget, recorded its
        batches.

    Raises
    ------
    ValueError
        If there is no budget to audit, or a violation to draw and no record of it.
    """
    audit = run.audit
    if audit.alpha is None:
        raise ValueError("audit: needs a fairness budget alpha")
    if audit.first is None:
        return f"{run.policy} keeps alpha = {audit.alpha}: the largest gap is {audit.max_gap}"
    if run.requests is None or run.batches is None:
        raise ValueError("audit: needs a run that kept its requests and recorded its batches")
    parts = [
        f"{run.policy} breaks alpha = {audit.alpha} in {_counts(run, audit)}",
        _picture(run, audit.first, audit.alpha),
        explain(run),
    ]
    return "\n\n".join(part for part in parts if part is not None)


def token_audit_text(run: Run, found: Audit) -> str:
    """What the audit of a run in tokens found, in a line.

    Parameters
    ----------
    run : Run
        A run that kept its requests.
    found : Audit
        Of `analysis.token_audit.token_audit`, with a budget.
    """
    first = found.first
    if first is None:
        return f"{run.policy} keeps alpha = {found.alpha} in tokens: the largest gap is {found.max_gap}"
    return (
        f"{run.policy} breaks alpha = {found.alpha} in tokens in {_counts(run, found)}; first at step "
        f"{first.step}, time {first.time:g}, when {request_name(run, first.other)} in slot "
        f"{first.other_slot} is {first.gap} ahead of {request_name(run, first.request)} in slot {first.slot}"
    )


@dataclass(frozen=True)
class _Bar:
    slot: int
    name: str
    progress: int
    length: int
    enters: bool


def _picture(run: Run, first: Violation, alpha: int) -> str:
    bars = _batch(run, first)
    unit = unit_for(max(alpha, *(bar.length for bar in bars)), _WIDTH)
    names = max(len(bar.name) for bar in bars)
    slots = len(str(max(bar.slot for bar in bars)))
    reach = max(marks(bar.length, unit) for bar in bars)
    lines = [f"first at step {first.step}, time {first.time:g}"]
    for bar in bars:
        drawn = progress_bar(bar.progress, bar.length, unit)
        note = "enters" if bar.enters else f"{bar.progress} of {bar.length}"
        mark = ">" if bar.enters else " "
        lines.append(f"{mark} slot {bar.slot:>{slots}}  {bar.name:<{names}}  {drawn:<{reach}}  {note}")
    margin = " " * (len("> slot ") + slots + len("  ") + names - len("alpha"))
    for label, tokens in (("alpha", alpha), ("  gap", first.gap)):
        lines.append(f"{margin}{label}  {'-' * marks(tokens, unit):<{reach}}  {tokens}")
    if unit > 1:
        lines.append(f"a mark is {unit} tokens, begun ones count")
    return "\n".join(lines)


def _batch(run: Run, first: Violation) -> list[_Bar]:
    """Requests in the batch right after the admission, by slot."""
    assert run.requests is not None
    assert run.batches is not None
    rows = np.flatnonzero((run.start <= first.time) & (first.time < run.finish))
    rows = rows[np.argsort(run.slot[rows])]
    since = span_steps(run.batches)[first_spans(run)[rows]]
    return [
        _Bar(
            slot=int(run.slot[row]),
            name=request_name(run, row),
            progress=first.step - int(admitted),
            length=int(run.requests.length[row]),
            enters=run.start[row] == first.time,
        )
        for row, admitted in zip(rows.tolist(), since, strict=True)
    ]


def _counts(run: Run, audit: Audit) -> str:
    admissions = _of(audit.violations, run.totals.requests, "admission")
    return f"{admissions} and {_of(audit.violation_steps, run.steps, 'step')}"


def _of(count: int, total: int, noun: str) -> str:
    return f"{count:,} of {total:,} {noun}s"
