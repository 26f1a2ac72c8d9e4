"""Latency metrics of every request of a run, vectorised."""

from __future__ import annotations

import numpy as np

from analysis.definitions import check_request_metric
from serving_sim import Run, Served, StepTime
from serving_sim.request import FloatArray, IntArray


def served_requests(run: Run) -> Served:
    """The requests of a run with their fates, in input order.

    Raises
    ------
    ValueError
        If the run gave its requests to a sink and kept none.
    """
    if run.requests is None:
        raise ValueError("run.requests=None: the requests went to a sink, read them from its file")
    return Served(run.requests, run.start, run.first_token, run.finish, run.slot)


def latency(served: Served, step_time: StepTime, metric: str) -> FloatArray:
    """Values of one metric, one a request.

    Parameters
    ----------
    served : Served
        Requests with their fates, n rows.
    step_time : StepTime
        Step time of the run.
    metric : str
        Key of `analysis.definitions.REQUEST_METRICS`.

    Returns
    -------
    ndarray of float, shape (n,)
        In the row order of ``served``; NaN where the metric is undefined.

    Raises
    ------
    ValueError
        If there is no such metric.
    """
    release = served.requests.release
    match check_request_metric(metric):
        case "queue_time":
            return served.start - release
        case "ttft":
            return served.first_token - release
        case "tpot":
            return _time_per_output_token(served)
        case "normalized_latency":
            return (served.finish - release) / served.requests.length
        case "slowdown":
            return (served.finish - release) / time_alone(step_time, served.requests.length)
        case _:
            return served.finish - release


def arrival_series(run: Run, metric: str, warmup: int = 0) -> FloatArray:
    """Values of one metric in arrival order, for statistics of the series.

    Parameters
    ----------
    run : Run
        A run that kept its n requests.
    metric : str
        Key of `analysis.definitions.REQUEST_METRICS`.
    warmup : int
        Number of first arrivals to leave out, 0 <= warmup < n.

    Returns
    -------
    ndarray of float
        Requests without a value are left out. They depend on the workload alone, so the series of
        two policies on the same arrivals match row by row.

    Raises
    ------
    ValueError
        If the run kept no requests, there is no such metric, or nothing is left to measure.
    """
    return defined(latency(served_requests(run), run.step_time, metric)[measured_rows(run, warmup)])


def defined(values: FloatArray) -> FloatArray:
    """Values that are a number, without a copy where all are."""
    undefined = np.isnan(values)
    return values[~undefined] if undefined.any() else values


def measured_rows(run: Run, warmup: int = 0) -> IntArray | slice:
    """Rows of the requests that statistics count, in arrival order, to index columns with.

    Parameters
    ----------
    run : Run
        A run that kept its n requests.
    warmup : int
        Number of first arrivals to leave out, 0 <= warmup < n.

    Returns
    -------
    ndarray of int, shape (n - warmup,), or slice
        A slice where requests stand in arrival order, as it copies nothing.

    Raises
    ------
    ValueError
        If nothing is left to measure.
    """
    requests = served_requests(run).requests
    check_warmup(warmup, len(requests))
    order = requests.arrival_order
    return slice(warmup, None) if order is None else order[warmup:]


def check_warmup(warmup: int, requests: int) -> None:
    """Refuse a warm-up that leaves nothing to measure.

    Raises
    ------
    ValueError
        If ``warmup`` is not in [0, requests).
    """
    if not 0 <= warmup < requests:
        raise ValueError(f"warmup={warmup!r}: must be >= 0 and below the number of requests, {requests}")


def time_alone(step_time: StepTime, length: IntArray) -> FloatArray:
    """`StepTime.alone` for many lengths at once, in time units, shape (n,)."""
    alone = step_time.pace(active=1, max_progress=0, sum_progress=0)
    return alone.elapsed(length.astype(np.float64))  # k (k + 1) overflows int64 from k = 2**32 on


def output_tokens(served: Served) -> IntArray:
    """Tokens the run made from the first token on, shape (n,).

    This is the logged number of output tokens where the length counts them. Where the length is
    the prompt alone the first step stands for the first token, so the whole length counts.
    """
    requests = served.requests
    first_step = requests.first_token_step
    made = requests.length if first_step is None else requests.length - first_step + 1
    return made if requests.output_tokens is None else np.where(requests.output_tokens == 0, 0, made)


def _time_per_output_token(served: Served) -> FloatArray:
    later_tokens = output_tokens(served) - 1
    spent = np.full(len(later_tokens), np.nan)
    np.divide(served.finish - served.first_token, later_tokens, out=spent, where=later_tokens > 0)
    return spent
