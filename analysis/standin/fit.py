"""From a log to a specification that tells no request of it."""

from __future__ import annotations

import numpy as np

from serving_sim import Workload
from serving_sim.request import FloatArray, IntArray
from workloads import Specification
from workloads.quantiles import LARGEST_KNOT, knots_of, knots_text

_LEAST_IN_CLASS = 20
"""Requests between one quantile and the next, at least, and in a cell of the joint weights on average."""

_LENGTH_CLASSES = (100, 50, 20, 10, 2)
_GAP_CLASSES = 50
_LEVELS = 240
_LEAST_IN_LEVEL = 50  # on average; a rate that followed every request would be the log again


def fit_specification(workload: Workload, *, time_unit: float | None = None) -> Specification:
    """A specification whose workloads resemble the given one.

    Prompts and outputs keep their quantiles in steps of 1 % and, by tenths, how they go together;
    arrivals keep their rate over time in up to 240 levels, and inside a level the quantiles of their
    gaps. What is lost is the order of things: which length came when, and which gap followed which.

    Parameters
    ----------
    workload : Workload
        At least 40 requests.
    time_unit : float, optional
        Seconds in a time unit, to be noted.

    Raises
    ------
    ValueError
        If there are too few requests for a specification that tells none of them, or one is longer
        than its numbers can tell.
    """
    if len(workload) < 2 * _LEAST_IN_CLASS:
        raise ValueError(
            f"requests={len(workload)}: must be at least {2 * _LEAST_IN_CLASS}, "
            "a specification of fewer would tell single requests"
        )
    longest = int(workload.length.max())
    if longest > LARGEST_KNOT:
        raise ValueError(f"length={longest}: must be at most 2**53 to be told by quantiles")
    release = np.sort(workload.release)
    span = float(release[-1] - release[0])
    return Specification(
        num_prompts=len(workload),
        lengths=_lengths(workload),
        arrivals=_arrivals(release - release[0]) if span > 0 else "backlog",
        request_rate=float(f"{(len(workload) - 1) / span:.6g}") if span > 0 else None,
        time_unit=time_unit,
    )


def _lengths(workload: Workload) -> str:
    prompt, output = workload.prompt_tokens, workload.output_tokens
    if prompt is None or output is None or (workload.length != prompt + output).any():
        return f"quantiles:tokens={_whole_knots(workload.length, least=1)}"
    # a request has a token: drawn apart, only one of the two may be 0
    least_output = min(int(output.min()), 1)
    least_prompt = min(int(prompt.min()), 1) if least_output else 1
    parts = [
        f"prompt={_whole_knots(prompt, least=least_prompt)}",
        f"output={_whole_knots(output, least=least_output)}",
    ]
    return f"prompt-output:{','.join(parts)},joint={_joint(prompt, output)}"


def _joint(prompt: IntArray, output: IntArray) -> str:
    """How often prompts of one rank come with outputs of another, in a square as fine as the data allow."""
    size = next(k for k in (10, 5, 2, 1) if k * k * _LEAST_IN_CLASS <= len(prompt))
    ranks = [np.argsort(np.argsort(each, kind="stable"), kind="stable") for each in (prompt, output)]
    row, column = (rank * size // len(prompt) for rank in ranks)
    counts = np.bincount(row * size + column, minlength=size * size)
    return "+".join(map(str, counts.tolist()))


def _whole_knots(tokens: IntArray, *, least: int) -> str:
    classes = next(each for each in _LENGTH_CLASSES if each * _LEAST_IN_CLASS <= len(tokens))
    knots = np.maximum(np.rint(knots_of(tokens, classes)), least)
    return knots_text(knots, digits=16)


def _arrivals(since: FloatArray) -> str:
    """Levels of the rate, and gaps on the clock that runs as fast as the rate is high."""
    count = min(_LEVELS, max(len(since) // _LEAST_IN_LEVEL, 1))
    duration = since[-1] / count
    levels = np.bincount(np.minimum((since / duration).astype(np.int64), count - 1), minlength=count)
    expected = np.concatenate([[0.0], np.cumsum(levels)])
    gaps = np.diff(np.interp(since, np.arange(count + 1) * duration, expected))
    knots = knots_of(gaps, min(_GAP_CLASSES, len(gaps) // _LEAST_IN_CLASS))
    shares = "+".join(map(str, levels.tolist()))
    return f"profile:levels={shares},duration={duration:.6g},gaps={knots_text(knots, digits=4)}"
