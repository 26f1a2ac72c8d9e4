"""The finished cells of a study as one table."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from analysis.study.definition import Study
from analysis.study.store import Kept

_TEXT = {
    "workload",
    "lengths",
    "arrivals",
    "requests_file",
    "step_time",
    "policy",
    "label",
    "engine",
    "stability",
}
_WHOLE = {
    "alpha",
    "E",
    "extent_max",
    "num_prompts",
    "Q",
    "replication",
    "requests",
    "slots",
    "steps",
    "tokens",
    "violations",
}


def study_table(study: Study, kept: Mapping[str, Kept]) -> pd.DataFrame:
    """One row a finished cell, in the order of the study.

    Parameters
    ----------
    study : Study
        Says which cells count; what the store holds of other definitions is left out.
    kept : mapping of str to Kept
        What the store holds.

    Returns
    -------
    DataFrame
        Coordinates first, then what was measured; the same whenever and wherever cells were
        simulated.
    """
    rows = []
    for cell in study.cells:
        found = kept.get(cell.key)
        if found is not None and found.digest == cell.digest and found.row is not None:
            rows.append(cell.coordinates | found.row)
    frame = pd.DataFrame(rows)
    return frame.astype({column: _dtype(column) for column in frame.columns})


def _dtype(column: str) -> str:
    if column in _TEXT:
        return "str"
    if column == "burst":
        return "boolean"
    return "Int64" if column in _WHOLE or column.endswith("_count") else "float64"
