"""One workload for each tenant or model."""

from __future__ import annotations

from typing import Literal

import numpy as np

from serving_sim import Workload
from workloads.row_names import taken


def split(workload: Workload, by: Literal["tenant", "model"]) -> dict[str, Workload]:
    """The requests of each tenant or model, with their times as they are.

    Parameters
    ----------
    workload : Workload
        What to split.
    by : str
        ``tenant`` or ``model``.

    Returns
    -------
    dict of str to Workload
        By name, those with most requests first; each request is in one part.

    Raises
    ------
    ValueError
        If the requests have no such name.
    """
    column = getattr(workload, by)
    if column is None:
        raise ValueError(f"{by}: the requests have none to split by")
    names = column.tolist()  # an array of texts would cut off zeros at their ends
    known = sorted(set(names))
    code_of = {name: code for code, name in enumerate(known)}
    codes = np.array([code_of[name] for name in names])
    counts = np.bincount(codes)
    rows = np.split(np.argsort(codes, kind="stable"), np.cumsum(counts)[:-1])
    return {known[code]: taken(workload, rows[code]) for code in np.argsort(-counts, kind="stable")}
