"""Which engine serves a run."""

from __future__ import annotations

import logging
from functools import cache
from importlib.util import find_spec
from typing import Literal

from serving_sim.policy import Policy
from serving_sim.request import Workload
from serving_sim.rule import rule_of
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
    source: object,
    policy: Policy,
    *,
    step_time: StepTime,
    slotted: bool,
    streams: bool,
) -> Literal["simpy", "compiled"]:
    """The engine that serves a run.

    ``auto`` is the compiled engine where it can serve the run, numba is installed and there are
    `WORTH_COMPILING` requests or more. Where numba alone is missing, a log message says so once.

    Raises
    ------
    ValueError
        If ``engine`` is no engine, or "compiled" and it cannot serve the run.
    """
    if engine not in ("auto", "simpy", "compiled"):
        raise ValueError(f"engine={engine!r}: must be 'auto', 'simpy' or 'compiled'")
    if engine == "simpy":
        return "simpy"
    if engine == "auto" and not (isinstance(source, Workload) and len(source) >= WORTH_COMPILING):
        _log.debug("%s: simpy engine, no workload of %d requests or more", policy.name, WORTH_COMPILING)
        return "simpy"
    reason = _reason_against(source, policy, step_time, slotted=slotted, streams=streams)
    if reason is None and find_spec("numba") is None:
        reason = "numba is not installed, the extra 'fast' brings it"
        if engine == "auto":
            _say_once(f"large runs take longer than they need: {reason}")
    if engine == "compiled" and reason is not None:
        raise ValueError(f"engine='compiled': {reason}")
    chosen = "compiled engine" if reason is None else f"simpy engine, the compiled one {reason}"
    _log.debug("%s: %s", policy.name, chosen)
    return "compiled" if reason is None else "simpy"


def can_compile(source: Workload, policy: Policy, step_time: StepTime, *, slotted: bool) -> bool:
    """Whether the compiled engine can serve a run that keeps its records."""
    reason = _reason_against(source, policy, step_time, slotted=slotted, streams=False)
    return reason is None and find_spec("numba") is not None


def _reason_against(
    source: object, policy: Policy, step_time: StepTime, *, slotted: bool, streams: bool
) -> str | None:
    if not isinstance(source, Workload):
        return f"needs a Workload, found {type(source).__name__}"
    if streams:
        return "keeps its records in memory, a sink was given"
    if rule_of(policy) is None:
        return f"knows no rule for the policy {policy.describe()}"
    return _too_large(source, step_time, slotted=slotted)


def _too_large(source: Workload, step_time: StepTime, *, slotted: bool) -> str | None:
    most_upper = 0 if source.upper is None else int(source.upper.max())
    if max(source.total_length, most_upper) > _LARGEST:
        return "counts up to 2**56 tokens, the workload has more"
    if step_time.per_max_token + step_time.per_token > 0 and int(source.length.max()) > _LONGEST_SQUARE:
        return "dates steps that grow with the tokens up to lengths of 2**31, the workload has longer ones"
    if slotted and float(source.release.max()) / step_time.base > _LARGEST:
        return "counts up to 2**56 slots of time, a release is later"
    return None


@cache
def _say_once(message: str) -> None:
    _log.warning(message)
