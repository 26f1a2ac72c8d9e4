"""Where in the count of busy steps a run's spans of constant batch and its admissions lie."""

from __future__ import annotations

import numpy as np

from serving_sim import Batches, Run
from serving_sim.request import IntArray


def span_steps(spans: Batches) -> IntArray:
    """Busy steps before each span and after the last, shape (k + 1,) for k spans."""
    return np.concatenate(([0], np.cumsum(spans.steps)))


def first_spans(run: Run) -> IntArray:
    """Span with which each request's service begins, shape (n,), in input order.

    Whoever enters changes the batch, so every admission is the start of a span, whatever a step takes.

    Parameters
    ----------
    run : Run
        A run that kept its requests and recorded its batches.
    """
    assert run.batches is not None  # no two of them begin at one instant: a run ends before floats fail
    return np.searchsorted(run.batches.time, run.start, side="right") - 1
