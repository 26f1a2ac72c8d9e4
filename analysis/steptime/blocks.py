"""Blocks of consecutive steps, which errors are told by.

Steps that follow each other hold nearly the same batch and share what else slows the machine: taken one by
one they would promise more than they know.
"""

from __future__ import annotations

import numpy as np

from serving_sim.request import IntArray

COUNT = 50
"""Few enough for long blocks, whose errors are nearly independent; enough to tell how these vary."""


def blocks(steps: int) -> list[IntArray]:
    """The rows of each block: fifty blocks of about equal size, or single steps where there are fewer."""
    return np.array_split(np.arange(steps), min(steps, COUNT))
