"""Constraint (1) with progress counted in tokens, for prompts that are read in chunks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import groupby, pairwise
from operator import itemgetter

import numpy as np
from sortedcontainers import SortedList

from analysis.spans import first_spans, span_steps
from serving_sim import Audit, Batches, Run, Violation, Workload
from serving_sim.arguments import is_whole
from serving_sim.request import IntArray

Line = tuple[int, int]
"""Slope and intercept of progress in tokens over the count of busy steps."""


def token_audit(run: Run, chunk: int) -> Audit:
    """Hold every busy step of a run against alpha in tokens.

    A request has ``min(chunk * k, prompt)`` tokens after k steps of its prompt, and one more a step
    after the last of these. So requests do not keep their distance, and every step must be looked at,
    not admissions alone (``docs/explanation/chunked-prompts.md``).

    Parameters
    ----------
    run : Run
        A run that kept its requests and recorded its batches.
    chunk : int
        Tokens of a prompt that a step reads, >= 1.

    Returns
    -------
    Audit
        The budget is that of the run's own audit, and all else is in tokens. A gap is taken at the
        start of a step, where the audit in steps has its own. ``violations`` counts admissions at
        which the largest progress exceeded alpha; ``first`` is the first busy step with a gap above
        alpha, which need not be one of an admission.

    Raises
    ------
    ValueError
        If the run kept no requests or batches, if prompts or their steps are unknown, or if these are
        not chunks of so many tokens.

    Notes
    -----
    Between two changes progress is linear in the step, with slope ``chunk`` for requests that read and
    1 for those that write. Four lines bound the batch, so no loop over steps is needed: O(n log slots)
    for n requests beside the sort, in whole numbers of any size.
    """
    if not (is_whole(chunk) and chunk >= 1):
        raise ValueError(f"chunk={chunk!r}: must be a whole number of tokens >= 1")
    if run.requests is None or run.batches is None:
        raise ValueError("batches: an audit in tokens needs record_batches=True and no sink")
    prompt, prompt_steps = _prompts(run.requests, chunk)
    admitted = span_steps(run.batches)[first_spans(run)]
    entering = Counter(admitted.tolist())
    alpha = run.audit.alpha
    max_gap = violations = violation_steps = 0
    first = None
    for start, stop, lines in _segments(admitted, prompt, prompt_steps, run.requests.length, chunk):
        # the largest of lines less the smallest is convex: it is largest at an end
        max_gap = max(max_gap, _gap(lines, start), _gap(lines, stop - 1))
        if alpha is None:
            continue
        if max(_progress(lines, start)) > alpha:
            violations += entering[start]
        fair = _fair_steps(lines, start, stop, alpha)
        broken = stop - start - len(fair)
        if broken and first is None:
            first = fair.stop if fair and fair.start == start else start
        violation_steps += broken
    return Audit(
        alpha=alpha,
        max_gap=max_gap,
        violations=violations,
        violation_steps=violation_steps,
        first=None if first is None else _violation(run, run.batches, admitted, first, chunk),
    )


def _prompts(requests: Workload, chunk: int) -> tuple[IntArray, IntArray]:
    prompt, steps = requests.prompt_tokens, requests.prompt_steps
    if prompt is None or steps is None:
        raise ValueError("prompt_tokens, prompt_steps: must both be known to count progress in tokens")
    wrong = steps != -(-prompt // chunk)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"prompt_steps[{row}]={steps[row]}: must be the chunks of {chunk:,} tokens in a prompt of "
            f"{prompt[row]:,}"
        )
    return prompt, steps


def _segments(
    admitted: IntArray, prompt: IntArray, prompt_steps: IntArray, length: IntArray, chunk: int
) -> Iterator[tuple[int, int, list[Line]]]:
    """Busy steps ``start <= t < stop`` with the lines that bound the progress of the batch before step t."""
    read = admitted + prompt_steps
    changes = [
        *_changes(chunk, admitted, read, -admitted),
        *_changes(1, read, admitted + length, prompt - read),
    ]
    changes.sort(key=itemgetter(0))
    grouped = [(step, list(group)) for step, group in groupby(changes, key=itemgetter(0))]
    shifts: dict[int, SortedList[int]] = {slope: SortedList() for slope in (chunk, 1)}
    for (start, now), (stop, _) in pairwise(grouped):
        for _, slope, shift, enters in now:
            if enters:
                shifts[slope].add(shift)
            else:
                shifts[slope].remove(shift)
        yield (
            start,
            stop,
            [(slope, slope * end) for slope, held in shifts.items() if held for end in (held[0], held[-1])],
        )


def _changes(
    slope: int, begin: IntArray, end: IntArray, shift: IntArray
) -> Iterator[tuple[int, int, int, bool]]:
    """Step, slope, shift, and whether a request begins or ends its stay on ``slope * (t + shift)``."""
    stays = begin < end
    for step, enters in ((begin, True), (end, False)):
        for at, by in zip(step[stays].tolist(), shift[stays].tolist(), strict=True):
            yield at, slope, by, enters


def _progress(lines: list[Line], step: int) -> list[int]:
    return [slope * step + intercept for slope, intercept in lines]


def _gap(lines: list[Line], step: int) -> int:
    progress = _progress(lines, step)
    return max(progress) - min(progress)


def _fair_steps(lines: list[Line], start: int, stop: int, alpha: int) -> range:
    """Steps from ``start`` to before ``stop`` at which no line is more than alpha above another.

    Each pair leaves a half-line of steps, and what all leave is one range.
    """
    for above, high in lines:
        for below, low in lines:
            steepness, room = above - below, alpha - (high - low)  # steepness * t <= room
            if steepness > 0:
                stop = min(stop, room // steepness + 1)
            elif steepness < 0:
                start = max(start, -(room // -steepness))
            elif room < 0:
                stop = start
    return range(start, max(start, stop))


def _violation(run: Run, batches: Batches, admitted: IntArray, step: int, chunk: int) -> Violation:
    """Who is furthest apart before the step that follows ``step`` others, and when it begins."""
    requests = run.requests
    assert requests is not None
    assert requests.prompt_tokens is not None
    done = step - admitted
    rows = np.flatnonzero((done >= 0) & (done < requests.length))
    columns = (rows, done[rows], requests.prompt_tokens[rows])
    progress = {
        row: min(chunk * steps, prompt) + max(steps - -(-prompt // chunk), 0)
        for row, steps, prompt in zip(*(column.tolist() for column in columns), strict=True)
    }
    behind, ahead = min(progress, key=progress.__getitem__), max(progress, key=progress.__getitem__)
    return Violation(
        time=_begin(run, batches, admitted, step),
        step=step,
        request=behind,
        slot=int(run.slot[behind]),
        other=ahead,
        other_slot=int(run.slot[ahead]),
        gap=progress[ahead] - progress[behind],
    )


def _begin(run: Run, batches: Batches, admitted: IntArray, step: int) -> float:
    """Instant at which the step that follows ``step`` others begins."""
    assert run.requests is not None
    starts = span_steps(batches)
    span = int(np.searchsorted(starts, step, side="right")) - 1
    since = int(starts[span])
    done = since - admitted
    progress = done[(done >= 0) & (done < run.requests.length)]
    pace = run.step_time.pace(len(progress), int(progress.max()), int(progress.sum()))
    return float(batches.time[span]) + pace.elapsed(step - since)
