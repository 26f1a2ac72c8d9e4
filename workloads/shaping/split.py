"""One workload for each tenant or model."""

from __future__ import annotations

from typing import Literal

import numpy as np

from serving_sim import Workload


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
    names, codes, counts = np.unique(column.astype(str), return_inverse=True, return_counts=True)
    largest_first = np.argsort(-counts, kind="stable")
    return {str(names[code]): workload.take(np.flatnonzero(codes == code)) for code in largest_first}
