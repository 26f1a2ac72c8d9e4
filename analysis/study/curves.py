"""The table of a study as curves: a statistic against load, alpha or slots, a line a policy."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from analysis.definitions import MAXIMA, REQUEST_METRICS
from analysis.estimate import Estimate
from analysis.outward import withhold_outward
from analysis.replications import enough_observations, interval, largest
from analysis.ruled_out import ruled_out
from analysis.stability import Verdict, are_finite, common_verdict, no_long_run
from analysis.statistic import Statistic, quantiles
from analysis.study.cell import Cell
from analysis.text import number

_OF_REQUESTS = [entry.key for entry in REQUEST_METRICS]

AXES = ("load", "request_rate", "alpha", "slots")
"""Coordinates that a curve can run along."""

_PLACE = (
    "lengths",
    "arrivals",
    "workload",
    "requests_file",
    "num_prompts",
    "slots",
    "step_time",
    "load",
    "request_rate",
)
"""Coordinates that tell one setting from another, where they are not what the curves run along."""


_OWN_PACE = (
    ", a log comes at its own pace; 'serving-sim workload fit' makes a workload of it, which goes with load "
    "or request-rate in a study file"
)


@dataclass(frozen=True)
class Curve:
    """One policy in one setting.

    Attributes
    ----------
    label : str
        The policy, with its budget where the curve does not run along it.
    x : tuple of float
        Where the points are.
    rows : tuple of DataFrame
        The replications behind each point.
    constant : bool
        The policy does not depend on the axis: all points are the same cells.
    """

    label: str
    x: tuple[float, ...]
    rows: tuple[pd.DataFrame, ...]
    constant: bool = False

    @property
    def verdicts(self) -> tuple[Verdict | None, ...]:
        """Whether, at each point, the queue grew as long as requests arrived; None for backlogs."""
        return tuple(map(_verdict, self.rows))

    @property
    def ruled_out(self) -> list[str]:
        """Why the arrivals give no intervals, each reason once; empty where they may."""
        return list(dict.fromkeys(filter(None, map(_ruled_out, self.rows))))

    def estimates(self, columns: Mapping[str, str]) -> list[dict[str, Estimate]]:
        """Columns over the replications of each point, by statistic, as `over_replications` gives them.

        An interval is left out as `withhold_outward` says.

        Parameters
        ----------
        columns : mapping of str to str
            As `columns_of` gives them.
        """
        statistics = statistics_of(columns)
        return [
            withhold_outward(
                statistics, {name: over_replications(each, column) for name, column in columns.items()}
            )
            for each in self.rows
        ]


def over_replications(rows: pd.DataFrame, column: str) -> Estimate:
    """Mean of a column over replications, with an interval where every replication is long enough.

    Of `MAXIMA` it is the largest value.

    Parameters
    ----------
    rows : DataFrame
        Rows of a study table that differ in the replication alone.
    column : str
        Name of a column of numbers.
    """
    values = rows[column]
    if values.isna().any():
        return Estimate(None, note="a replication has no value")
    if column in MAXIMA:
        return largest(values.tolist())
    withheld = no_long_run(_verdict(rows), ruled_out=_ruled_out(rows))
    if withheld is not None:
        return Estimate(float(values.mean()), note=withheld)
    if len(values) == 1:
        return Estimate(float(values.iloc[0]), note="one replication")
    observations = rows.get(f"{column}_observations")
    stream = not are_finite(rows["burst"])
    if stream and observations is not None and (observations < enough_observations(len(rows))).any():
        return Estimate(float(values.mean()), note="not enough data in a replication")
    return interval(values.astype("float64").tolist())


def columns_of(curves: Sequence[Curve], metric: str) -> dict[str, str]:
    """Columns of the mean and quantiles of a metric by statistic; of whole runs it has one, called ``""``."""
    names = [column for column in curves[0].rows[0].columns if column.endswith("_observations")]
    columns = [
        name.removesuffix("_observations")
        for name in names
        if metric in _OF_REQUESTS and name.startswith(f"{metric}_")
    ]
    return {column.removeprefix(f"{metric}_"): column for column in columns} or {"": metric}


def statistics_of(columns: Iterable[str]) -> list[Statistic]:
    """The statistics that `columns_of` names; what is neither mean nor quantile stands for itself."""
    return [
        quantiles([float(name.removeprefix("p"))])[0] if name.startswith("p") else Statistic(name)
        for name in columns
    ]


def _verdict(rows: pd.DataFrame) -> Verdict | None:
    """One verdict on all replications."""
    judged = rows["stability"].dropna().tolist()
    return common_verdict(judged) if judged else None


def _ruled_out(rows: pd.DataFrame) -> str | None:
    """Why the arrivals of replications give no interval; all go through equally many periods."""
    periods = rows["periods"].iloc[0]
    return ruled_out(periods=None if pd.isna(periods) else float(periods), replications=len(rows))


def axis_of(cells: Iterable[Cell]) -> str:
    """What the curves of a study run along unless the user says: the first axis with several values.

    Parameters
    ----------
    cells : iterable of Cell
        All of the study: those that are finished may have one value yet.

    Raises
    ------
    ValueError
        If there is none.
    """
    coordinates = [cell.coordinates for cell in cells]
    for axis in AXES:
        if len({place.get(axis) for place in coordinates} - {None}) > 1:
            return axis
    names = ", ".join(axis.replace("_", "-") for axis in AXES)
    raise ValueError(f"there is nothing to draw against: none of {names} has several values")


def settings(table: pd.DataFrame, axis: str) -> dict[str, list[Curve]]:
    """Curves by setting: one setting for all combinations of the coordinates that vary beside the axis.

    Parameters
    ----------
    table : DataFrame
        Of `study_table`.
    axis : str
        One of `AXES`.

    Returns
    -------
    dict of str to list of Curve
        By description as in ``slots 16, load 0.7``; empty where the rest of the grid is one point.

    Raises
    ------
    ValueError
        If no row has a value there.
    """
    if not _values(table, axis):
        own_pace = axis in ("load", "request_rate") and _values(table, "requests_file")
        raise ValueError(
            f"against={axis.replace('_', '-')!r}: no finished cell has one{_OWN_PACE if own_pace else ''}"
        )
    if axis != "alpha":
        table = table[table[axis].notna()]  # a process with a rate of its own has no load
    varying = [name for name in _PLACE if name != axis and _values(table, name) > 1]
    if not varying:
        return {"": _curves(table, axis)}
    groups = table.groupby(varying, sort=False, dropna=False)
    return {
        _description(varying, place if isinstance(place, tuple) else (place,)): _curves(rows, axis)
        for place, rows in groups
    }


def _curves(table: pd.DataFrame, axis: str) -> list[Curve]:
    if axis != "alpha":
        groups = table.groupby("label", sort=False)
        return [_curve(str(label), rows, axis) for label, rows in groups]
    along = _with_budgets(table)
    budgets = sorted(table.loc[along, "alpha"].unique())
    return [
        _curve(str(policy), rows, axis)
        if along[rows.index].any()
        else Curve(str(policy), tuple(map(float, budgets)), (rows,) * len(budgets), constant=True)
        for policy, rows in table.groupby("policy", sort=False)
    ]


def _with_budgets(table: pd.DataFrame) -> pd.Series[bool]:
    """Rows of the policies that the study gives several budgets."""
    several = table.groupby("policy")["alpha"].transform("nunique") > 1
    return several if several.any() else table["alpha"].notna()


def _curve(label: str, rows: pd.DataFrame, axis: str) -> Curve:
    points = [(float(x), each) for x, each in rows.groupby(axis)]  # type: ignore[arg-type]
    return Curve(label, tuple(x for x, _ in points), tuple(each for _, each in points))


def _values(table: pd.DataFrame, column: str) -> int:
    return int(table[column].nunique()) if column in table else 0


def _description(names: Sequence[str], values: tuple[Hashable, ...]) -> str:
    pairs = zip(names, values, strict=True)
    return ", ".join(
        f"{name.replace('_', ' ')} {_said(value)}" for name, value in pairs if not _absent(value)
    )


def _said(value: Any) -> str:  # noqa: ANN401  (a cell of a table)
    return value if isinstance(value, str) else number(float(value))


def _absent(value: Any) -> bool:  # noqa: ANN401
    return bool(pd.isna(value))
