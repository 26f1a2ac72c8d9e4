"""Prompts that a server reads in chunks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from serving_sim import Workload
from serving_sim.request import IntArray
from workloads.parameters import check_count
from workloads.shaping.shaping import Shaped


@dataclass(frozen=True)
class PromptChunks:
    """A prompt takes ceil(prompt / chunk) steps, where the paper has it take one a token.

    Servers read a prompt in chunks of hundreds of tokens, each as part of one step of the batch
    (Agrawal et al., "Taming throughput-latency tradeoff in LLM inference with Sarathi-Serve", OSDI
    2024). Lengths, progress and the fairness constraint go on counting steps, and so does the time
    of a step: that a step with a chunk in it takes longer is for the step-time model to say.

    Parameters
    ----------
    tokens : int
        Tokens of a prompt that a step reads, >= 1; 1 is the model of the paper.

    Raises
    ------
    ValueError
        If there are no tokens or, when applied, if prompts are unknown, are in chunks already or are
        not counted in the lengths.
    """

    random: ClassVar[bool] = False
    tokens: int

    def __post_init__(self) -> None:
        check_count("tokens", self.tokens)

    def describe(self) -> str:
        return f"prompts in chunks of {self.tokens:,}"

    def apply(self, workload: Workload, rng: np.random.Generator) -> Shaped:
        prompt = _counted_prompts(workload, self.describe())
        steps = -(-prompt // self.tokens)
        saved = prompt - steps
        shorter = replace(
            workload,
            length=workload.length - saved,
            prompt_steps=steps,
            lower=None if workload.lower is None else np.maximum(workload.lower - saved, 1),
            upper=None if workload.upper is None else workload.upper - saved,
        )
        before, after = (each.total_length / len(workload) for each in (workload, shorter))
        return Shaped(shorter, note=f"mean length {before:,.4g} to {after:,.4g} steps")


def _counted_prompts(workload: Workload, by: str) -> IntArray:
    prompt, output, length = workload.prompt_tokens, workload.output_tokens, workload.length
    if prompt is None:
        raise ValueError(f"{by}: the requests do not tell their prompts")
    if workload.prompt_steps is not None:
        raise ValueError(f"{by}: the prompts are in chunks already")
    counted = prompt <= length if output is None else (length == prompt + output) | (length == prompt)
    if not counted.all():
        row = int(np.argmax(~counted))
        raise ValueError(
            f"length[{row}]={length[row]}: {by} need lengths that count the prompt, "
            f"here of {prompt[row]} tokens"
        )
    return prompt
