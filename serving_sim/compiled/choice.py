"""Which engine serves a run."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from functools import cache
from importlib.util import find_spec
from typing import Literal

from serving_sim.arrivals import OpenStream
from serving_sim.policy import Policy
from serving_sim.request import Workload
from serving_sim.rule import rule_of
from serving_sim.source import OpenSource, ReactiveSource
from serving_sim.steptime import StepTime

Engine = Literal["auto", "simpy", "compiled"]

WORTH_COMPILING = 100_000
"""Requests from which ``auto`` takes the compiled engine.

A fresh process takes as long to import numba and to load the kernel as the SimPy engine takes to serve
about that many (``benchmarks/kernel.py``). The number alone decides, so that a run never depends on
those before it.
"""

_LARGEST = 2**56
"""Most tokens of a run, and largest size; `serving_sim.compiled.wide` multiplies such numbers."""

_LONGEST_SQUARE = 2**31
"""Longest request where a span of steps is dated by a square."""

_log = logging.getLogger("serving_sim")


def choose(
    engine: Engine,
    source: OpenSource | ReactiveSource,
    arrivals: OpenStream | ReactiveSource,
    policy: Policy,
    *,
    step_time: StepTime,
) -> Literal["simpy", "compiled"]:
    """The engine that serves a run; ``arrivals`` are the blocks of the source unless it reacts.

    ``auto`` is the compiled engine where it can serve the run, numba is installed and there are
    `WORTH_COMPILING` requests or more, which reads ahead as many of a stream. Where numba alone is
    missing, a log message says so once.

    Raises
    ------
    ValueError
        If ``engine`` is no engine, or "compiled" and it cannot serve the run.
    """
    if engine not in ("auto", "simpy", "compiled"):
        raise ValueError(f"engine={engine!r}: must be 'auto', 'simpy' or 'compiled'")
    if engine == "simpy":
        return "simpy"
    reason = _reason_against(source, policy)
    if reason is None and engine == "auto" and not _is_large(arrivals):
        reason = f"is for {WORTH_COMPILING:,} requests or more"
    if reason is None:
        reason = _first_too_large(_known(source, arrivals), step_time)
    if reason is None and find_spec("numba") is None:
        reason = "numba is not installed, the extra 'fast' brings it"
        if engine == "auto":
            _say_once(f"large runs take longer than they need: {reason}")
    if engine == "compiled" and reason is not None:
        raise ValueError(f"engine='compiled': {reason}")
    chosen = "compiled engine" if reason is None else f"simpy engine, the compiled one {reason}"
    _log.debug("%s: %s", policy.name, chosen)
    return "compiled" if reason is None else "simpy"


def can_compile(source: Workload, policy: Policy, step_time: StepTime) -> bool:
    """Whether the compiled engine can serve a run."""
    reason = _reason_against(source, policy) or _first_too_large([source], step_time)
    return reason is None and find_spec("numba") is not None


def refuse_large(block: Workload, tokens: int, step_time: StepTime) -> None:
    """Refuse a block of a stream, with which it has so many tokens, that the kernel cannot count.

    Raises
    ------
    ValueError
        If a number is too large.
    """
    reason = _too_large(block, tokens, step_time)
    if reason is not None:
        raise ValueError(f"the compiled engine {reason}: take engine='simpy'")


def _is_large(arrivals: OpenStream | ReactiveSource) -> bool:
    return isinstance(arrivals, OpenStream) and arrivals.has(WORTH_COMPILING)


def _known(source: object, arrivals: OpenStream | ReactiveSource) -> Iterable[Workload]:
    """The requests that are known before the run: all of a workload, of a stream what was read ahead."""
    if isinstance(source, Workload):
        return [source]
    return arrivals.ahead if isinstance(arrivals, OpenStream) else ()


def _reason_against(source: OpenSource | ReactiveSource, policy: Policy) -> str | None:
    if isinstance(source, ReactiveSource):
        return f"cannot react to what happens, as the source {type(source).__name__} does"
    if rule_of(policy) is None:
        return f"knows no rule for the policy {policy.describe()}"
    return None


def _first_too_large(blocks: Iterable[Workload], step_time: StepTime) -> str | None:
    tokens = 0
    for block in blocks:
        tokens += block.total_length
        reason = _too_large(block, tokens, step_time)
        if reason is not None:
            return reason
    return None


def _too_large(requests: Workload, tokens: int, step_time: StepTime) -> str | None:
    most_upper = 0 if requests.upper is None else int(requests.upper.max())
    if max(tokens, most_upper) > _LARGEST:
        return "counts up to 2**56 tokens, the workload has more"
    if step_time.per_max_token + step_time.per_token > 0 and int(requests.length.max()) > _LONGEST_SQUARE:
        return "dates steps that grow with the tokens up to lengths of 2**31, the workload has longer ones"
    return None


@cache
def _say_once(message: str) -> None:
    _log.warning(message)
