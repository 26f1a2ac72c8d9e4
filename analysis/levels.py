"""What a run holds at any time, as step functions: requests that wait, and the state of the batch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.latency import served_requests
from serving_sim import Batches, Run, Served
from serving_sim.request import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Levels:
    """A step function of time.

    Attributes
    ----------
    time : ndarray of float, shape (k,)
        When a value begins, in time units, not decreasing.
    value : ndarray of int, shape (k,)
        From that time up to the next; before the first it is 0.
    """

    time: FloatArray
    value: IntArray

    def largest(self, edges: FloatArray, lasts: NDArray[np.bool_] | None = None) -> IntArray:
        """Largest value in each of the bins between consecutive ``edges``.

        Parameters
        ----------
        edges : ndarray of float, shape (m + 1,)
            Not decreasing. A bin is [low, high), the last one [low, high].
        lasts : ndarray of bool, shape (m + 1,), optional
            Whether the value before each edge lasts up to it, or is 0 by then; by default all do.

        Returns
        -------
        ndarray of int, shape (m,)
        """
        carried = np.append(0, self.value)[np.searchsorted(self.time, edges[:-1], side="right")]
        if lasts is not None:
            carried = carried * lasts[:-1]
        begin = np.searchsorted(self.time, edges, side="left")
        begin[-1] = np.searchsorted(self.time, edges[-1], side="right")
        padded = np.append(self.value, 0)  # reduceat wants a place behind the last value
        within = np.maximum.reduceat(padded, begin)[:-1]
        return np.where(begin[1:] > begin[:-1], np.maximum(carried, within), carried)

    def above(self, limit: int) -> list[tuple[float, float]]:
        """Spans of time with a larger value than ``limit``, in order and apart; the last value is none."""
        larger = np.concatenate(([False], self.value > limit)).astype(np.int8)
        turns = np.diff(larger)
        return list(zip(self.time[turns > 0].tolist(), self.time[turns < 0].tolist(), strict=True))


def waiting_levels(run: Run) -> Levels:
    """Requests released and not admitted, at every release and admission.

    Parameters
    ----------
    run : Run
        A run that kept its requests.
    """
    served = served_requests(run)
    times = np.unique(np.concatenate([served.requests.release, served.start]))
    waiting, _ = present(served, times)
    return Levels(times, waiting)


def present(served: Served, instants: FloatArray) -> tuple[IntArray, IntArray]:
    """How many requests wait and how many are active right after each instant.

    Parameters
    ----------
    served : Served
        Requests with their fates.
    instants : ndarray of float, shape (m,)
        In time units.

    Returns
    -------
    waiting, active : ndarray of int, shape (m,)
        What is released at an instant is there at it, what starts waits no more, and what finishes is
        gone.
    """
    come, begun, gone = (
        np.searchsorted(np.sort(each, kind="stable"), instants, side="right")
        for each in (served.requests.release, served.start, served.finish)
    )
    return come - begun, begun - gone


def batch_levels(run: Run) -> dict[str, Levels]:
    """``active``, ``max progress`` and ``gap`` at the starts of spans, and zeros where it falls idle.

    Parameters
    ----------
    run : Run
        A run that kept its requests and recorded its batches.
    """
    batches = _recorded(run)
    active, progress = _with_rests(run, batches.active, batches.max_progress)
    return {"active": active, "max progress": progress, "gap": gap_levels(run)}


def gap_levels(run: Run) -> Levels:
    """The gap alone, see `batch_levels`."""
    (gap,) = _with_rests(run, gaps_of_spans(run).value)
    return gap


def gaps_of_spans(run: Run) -> Levels:
    """The gap at the starts of spans, see `batch_levels`; where the worker rests it is left as it was."""
    batches = _recorded(run)
    return Levels(batches.time, batches.max_progress - batches.min_progress)


def _recorded(run: Run) -> Batches:
    assert run.batches is not None
    return run.batches


def _with_rests(run: Run, *columns: IntArray) -> list[Levels]:
    spans, emptied = _recorded(run).time, _emptied(run)
    place = np.searchsorted(spans, emptied)
    times = np.insert(spans, place, emptied)
    return [Levels(times, np.insert(column, place, 0)) for column in columns]


def _emptied(run: Run) -> FloatArray:
    """When the worker falls idle, in order."""
    order = np.argsort(run.start, kind="stable")  # quick, since many start as they came
    left = np.maximum.accumulate(run.finish[order])
    falls_idle = np.append(run.start[order][1:] > left[:-1], True)
    emptied: FloatArray = left[falls_idle]
    return emptied
