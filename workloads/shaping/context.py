"""Requests beyond what a model can hold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal, get_args

import numpy as np

from serving_sim import Workload
from serving_sim.arguments import unknown
from serving_sim.request import IntArray
from workloads.parameters import check_count
from workloads.shaping.shaping import Shaped, counted, kept

TooLong = Literal["drop", "cap"]


@dataclass(frozen=True)
class ContextLimit:
    """No request is longer than ``tokens``, prompt and output together.

    Parameters
    ----------
    tokens : int
        What the model can hold, >= 1.
    too_long : str
        ``drop`` leaves longer requests out. ``cap`` ends their output at the limit, as a server does,
        and leaves out only those whose prompt alone fills it. Where a workload does not tell prompts
        from outputs, its lengths are capped.

    Raises
    ------
    ValueError
        If a parameter is out of range or, when applied, no request is left, or a length that must be
        capped is not made of the request's prompt and output tokens.
    """

    random: ClassVar[bool] = False
    tokens: int
    too_long: TooLong = "drop"

    def __post_init__(self) -> None:
        check_count("tokens", self.tokens)
        if self.too_long not in get_args(TooLong):
            raise ValueError(unknown("too_long", self.too_long, get_args(TooLong)))

    def describe(self) -> str:
        return f"context limit {self.tokens:,}"

    def apply(self, workload: Workload, rng: np.random.Generator) -> Shaped:
        excess = np.maximum(_context(workload) - self.tokens, 0)
        if self.too_long == "drop":
            return Shaped(
                kept(workload, excess == 0, self.describe()),
                counted({f"longer than {self.tokens:,} tokens": int(np.count_nonzero(excess))}),
            )
        output = _context(workload) if workload.output_tokens is None else workload.output_tokens
        no_room = (excess > 0) & (excess >= output)
        part = kept(workload, ~no_room, self.describe())
        cut = excess[~no_room]
        shorter = np.count_nonzero(cut)
        return Shaped(
            _shortened(part, cut) if shorter else part,
            counted({f"prompt fills {self.tokens:,} tokens": int(np.count_nonzero(no_room))}),
            f"{shorter:,} capped",
        )


def _context(workload: Workload) -> IntArray:
    if workload.prompt_tokens is None or workload.output_tokens is None:
        return workload.length
    return workload.prompt_tokens + workload.output_tokens


def _shortened(workload: Workload, cut: IntArray) -> Workload:
    """The workload with ``cut`` fewer output tokens."""
    prompt, output = workload.prompt_tokens, workload.output_tokens
    if prompt is None or output is None:
        return _with_length(workload, workload.length - cut)
    shorter = replace(workload, output_tokens=output - cut)
    if (workload.length == prompt).all():  # the outputs do not count
        return shorter
    steps = prompt if workload.prompt_steps is None else workload.prompt_steps
    made = (workload.length == steps + output) | (workload.length == output)
    if not made[cut > 0].all():
        row = int(np.argmax(~made & (cut > 0)))
        raise ValueError(
            f"length[{row}]={workload.length[row]}: cannot be capped, it is made neither of "
            f"{prompt[row]} prompt and {output[row]} output tokens nor of one of them"
        )
    return _with_length(shorter, workload.length - cut)


def _with_length(workload: Workload, length: IntArray) -> Workload:
    lower = None if workload.lower is None else np.minimum(workload.lower, length)
    return replace(workload, length=length, lower=lower)
