"""Runs as pandas data frames with the columns of the files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from analysis.columns import BATCH_COLUMNS, MODEL, REQUEST_COLUMNS, TENANT, Column
from analysis.latency import served_requests
from serving_sim import Batches, Run, Served
from serving_sim.request import IntArray

if TYPE_CHECKING:
    from numpy.typing import NDArray

_DTYPES = {"float": "float64", "int": "int64", "text": "str"}


def to_frame(run: Run) -> pd.DataFrame:
    """One row a request, in input order, with the columns of ``requests.parquet``.

    Parameters
    ----------
    run : Run
        A run that kept its requests.

    Returns
    -------
    DataFrame
        Columns as `analysis.columns.REQUEST_COLUMNS` describes them; token counts that the input
        does not tell are missing values.

    Raises
    ------
    ValueError
        If the requests of the run went to a sink.
    """
    return request_frame(served_requests(run), first_row=0)


def request_frame(served: Served, first_row: int) -> pd.DataFrame:
    """Frame of a block of requests, of which the first is row ``first_row`` of the input."""
    requests = served.requests
    rows = np.arange(first_row, first_row + len(requests))
    values: dict[str, Any] = {
        "request_id": _as_text(rows) if requests.request_id is None else requests.request_id,
        "release": requests.release,
        "length": requests.length,
        "prompt_tokens": requests.prompt_tokens,
        "output_tokens": requests.output_tokens,
        "start": served.start,
        "first_token": served.first_token,
        "finish": served.finish,
        "slot": served.slot,
        "queue_time": served.start - requests.release,
        "ttft": served.first_token - requests.release,
        "e2el": served.finish - requests.release,
        "tenant": requests.tenant,
        "model": requests.model,
    }
    columns = (*REQUEST_COLUMNS, *(each for each in (TENANT, MODEL) if values[each.name] is not None))
    return pd.DataFrame({column.name: _series(column, values[column.name], len(rows)) for column in columns})


def batch_frame(batches: Batches) -> pd.DataFrame:
    """One row a span of constant batch, with the columns of ``batches.parquet``."""
    return pd.DataFrame(
        {
            column.name: _series(column, getattr(batches, column.name), len(batches.time))
            for column in BATCH_COLUMNS
        }
    )


def _series(column: Column, values: NDArray[Any] | None, rows: int) -> pd.Series[Any]:
    dtype = "Int64" if column.optional else _DTYPES[column.kind]
    if values is None:
        return pd.Series(pd.NA, index=range(rows), dtype=dtype)
    return pd.Series(values, dtype=dtype)


def _as_text(numbers: IntArray) -> pd.Series[str]:
    return pd.Series(numbers).astype("str")  # by pandas, which is quicker than numpy here by far
