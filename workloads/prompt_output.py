"""Prompts and outputs drawn together."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from serving_sim.arguments import check_kind
from serving_sim.columns import FloatArray, IntArray
from workloads.quantiles import whole_knots, whole_value_at


@dataclass(frozen=True)
class PromptOutput:
    """A prompt and an output, each with its quantiles, and how they go together; the length is their sum.

    Parameters
    ----------
    prompt, output : str
        Quantiles in tokens, whole numbers >= 0 joined by ``+``, as `workloads.quantiles.Quantiles`
        reads them.
    joint : str
        k x k weights joined by ``+``: row i, column j is how often a prompt from the i-th of k equal
        shares of its distribution comes with an output from the j-th of its own. Within a pair of
        shares the two are independent. The default, one share, makes them so throughout.

    Raises
    ------
    TypeError
        If a parameter is no text.
    ValueError
        If a parameter is out of range, both can be 0, or k does not divide the number of classes
        between the quantiles.

    Notes
    -----
    A checkerboard copula (Li, Mikusinski and Taylor 1998, "Strong approximation of copulas"). A single
    correlation would not do: in logs of chats outputs often grow with the prompt only so far.
    """

    prompt: str
    output: str
    joint: str = "1"
    _prompt: FloatArray = field(init=False, repr=False, compare=False)
    _output: FloatArray = field(init=False, repr=False, compare=False)
    _joint: FloatArray = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        prompt, output = (
            whole_knots("prompt", self.prompt, least=0),
            whole_knots("output", self.output, least=0),
        )
        if prompt[0] + output[0] < 1:
            raise ValueError("prompt, output: must not both start at 0, a request has a token")
        joint = _square(self.joint)
        for name, knots in (("prompt", prompt), ("output", output)):
            if (len(knots) - 1) % len(joint):
                raise ValueError(
                    f"joint: its {len(joint)} rows must divide the {len(knots) - 1} classes of {name}"
                )
        for name, value in (("_prompt", prompt), ("_output", output), ("_joint", joint / joint.sum())):
            object.__setattr__(self, name, value)

    @property
    def mean(self) -> float:
        """Exact, share by share."""
        rows, columns = self._joint.sum(axis=1), self._joint.sum(axis=0)
        shares = np.concatenate([rows, columns])
        means = np.concatenate([_means(self._prompt, len(rows)), _means(self._output, len(columns))])
        # exact, as no dot product is: the mean sets the rate of a load, and so every release on any machine
        return math.fsum((shares * means).tolist())

    def sample(self, n: int, rng: np.random.Generator) -> IntArray:
        """``n`` independent lengths."""
        prompt, output = self.parts(n, rng)
        return prompt + output

    def parts(self, n: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
        """``n`` independent pairs of prompt and output, shapes (n,)."""
        size = len(self._joint)
        # three numbers a request, so that a longer workload starts like a shorter one
        cell, row, column = rng.random((n, 3)).T
        upto = np.cumsum(self._joint)
        # rounding may leave the sum of the weights beside 1: a share of the sum itself stays below it
        first, second = np.divmod(np.searchsorted(upto, cell * upto[-1], side="right"), size)
        return (
            whole_value_at(self._prompt, (first + row) / size),
            whole_value_at(self._output, (second + column) / size),
        )


def _square(text: str) -> FloatArray:
    check_kind("joint", text, str, "a text such as '1+0+0+1'")
    try:
        weights = np.array([float(part) for part in text.split("+")])
    except ValueError:
        weights = np.array([math.nan])
    size = math.isqrt(len(weights))
    usable = bool(np.isfinite(weights).all() and (weights >= 0).all() and weights.any())
    if not usable or size**2 != len(weights):
        raise ValueError("joint: must be k x k numbers >= 0 joined by +, not all 0")
    return weights.reshape(size, size)


def _means(knots: FloatArray, shares: int) -> FloatArray:
    """Mean of the quantiles in each of equal shares, shape (shares,)."""
    means: FloatArray = ((knots[:-1] + knots[1:]) / 2).reshape(shares, -1).mean(axis=1)
    return means
