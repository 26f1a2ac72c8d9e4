"""Log of the spans of constant batch (``record_batches``)."""

from __future__ import annotations

from array import array

import numpy as np

from serving_sim.batch import Batch
from serving_sim.record import Batches


class SpanLog:
    """Grows one row whenever the batch has changed and is not empty."""

    def __init__(self) -> None:
        self._time = array("d")
        self._step = array("q")
        self._active = array("q")
        self._waiting = array("q")
        self._max_progress = array("q")
        self._min_progress = array("q")
        self._end = array("q")

    def open(self, time: float, step: int, waiting: int, batch: Batch) -> None:
        """The batch changed at ``time``: end the span before, begin the next one."""
        self.close(step)
        if batch.admitted:
            self._time.append(time)
            self._step.append(step)
            self._active.append(len(batch.admitted))
            self._waiting.append(waiting)
            self._max_progress.append(step - batch.oldest)
            self._min_progress.append(step - batch.newest)

    def close(self, step: int) -> None:
        """End the open span, if any, after ``step`` busy steps."""
        if len(self._end) < len(self._step):
            self._end.append(step)

    def batches(self) -> Batches:
        """The finished spans as columns."""
        return Batches(
            time=np.array(self._time),
            steps=np.array(self._end) - np.array(self._step),
            active=np.array(self._active),
            waiting=np.array(self._waiting),
            max_progress=np.array(self._max_progress),
            min_progress=np.array(self._min_progress),
        )
