"""Names for requests that have none of their own: the number of the row they came from."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from serving_sim import Workload
from serving_sim.request import IntArray, TextArray


def row_names(rows: IntArray) -> TextArray:
    """Row numbers as the texts that write them, shape (n,)."""
    return pa.array(rows).cast(pa.string()).to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]


def taken(workload: Workload, rows: IntArray) -> Workload:
    """The requests of the given rows, each with its row number as its id unless it has one.

    Rows that stand where they stood get none: a text for each would take more memory than all its
    numbers, and the place tells the same.

    Parameters
    ----------
    workload : Workload
        Where they come from.
    rows : ndarray of int, shape (n,)
        Which ones, each at most once.
    """
    part = workload.take(rows)
    if workload.request_id is not None or np.array_equal(rows, np.arange(len(rows))):
        return part
    return replace(part, request_id=row_names(rows))
