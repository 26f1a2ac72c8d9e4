"""A study as pictures and as one HTML page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from analysis.definitions import REQUEST_METRICS, definition
from analysis.plots.study_curves import study_curves
from analysis.report.pictures import Picture
from analysis.report.section import Section
from analysis.report.sections import sections_page
from analysis.stability import UNDECIDED
from analysis.study.curves import Curve, paired_difference, settings
from analysis.tables import Table
from analysis.text import with_interval
from analysis.time_unit import TimeUnit

_AXIS_LABELS = {
    "load": "load",
    "request_rate": "requests per {time}",
    "alpha": "alpha (tokens)",
    "slots": "slots",
}
_OF_REQUESTS = [entry.key for entry in REQUEST_METRICS]

_MARKS = {"unstable": " (the queue grows)", "undecided": " (?)"}

_UNDECIDED = f"? {UNDECIDED}: no interval"

_READING = (
    "One line a policy. Bars are 95 % intervals over replications; a point without a bar has one "
    "replication, or replications too short to carry an interval. At a hollow circle the queue grows "
    "as long as requests arrive: the longer the run, the higher the point. At a hollow square the runs are "
    "too short to tell. A line without points is a "
    "policy that does not depend on {axis}."
)


def study_sections(
    table: pd.DataFrame, metrics: Sequence[str], axis: str, time_unit: TimeUnit, baseline: str | None = None
) -> list[Section]:
    """One section a setting, in it one picture and one table a metric.

    Parameters
    ----------
    table : DataFrame
        Of `analysis.study.study_table`.
    metrics : sequence of str
        Keys of `analysis.definitions.REQUEST_METRICS` and ``RUN_METRICS``.
    axis : str
        What the curves run along, one of `analysis.study.curves.AXES`.
    time_unit : TimeUnit
        What the study counts time in.
    baseline : str, optional
        Label of the line from which all others get a table of differences, paired by replication.

    Raises
    ------
    ValueError
        If nothing has a place on the axis, or no line has that label.
    """
    found = settings(table, axis)
    if baseline is not None:
        _check_baseline(baseline, found.values())
    return [
        _section(
            f"setting-{number}", title, curves, metrics=metrics, axis=axis, unit=time_unit, baseline=baseline
        )
        for number, (title, curves) in enumerate(found.items(), start=1)
    ]


def _check_baseline(baseline: str, settings: Iterable[Sequence[Curve]]) -> None:
    labels = dict.fromkeys(curve.label for curves in settings for curve in curves)
    if baseline not in labels:
        raise ValueError(f"baseline={baseline!r}: must be one of {', '.join(labels)}")


def study_page(title: str, sections: Sequence[Section], facts: Mapping[str, str]) -> str:
    """HTML text of the page, with everything it needs inside."""
    return sections_page(title, sections, introduction=(), facts=facts)


def _section(
    name: str,
    setting: str,
    curves: Sequence[Curve],
    *,
    metrics: Sequence[str],
    axis: str,
    unit: TimeUnit,
    baseline: str | None,
) -> Section:
    against = axis.replace("_", " ")
    suffix = f"-{name}" if setting else ""
    return Section(
        name=name,
        title=setting.capitalize() or f"Against {against}",
        measures=(_READING.format(axis=against),),
        found=(),
        tables=[
            table
            for metric in metrics
            for table in (
                _table(curves, metric, axis, unit),
                *_difference_tables(curves, metric, axis, unit, baseline=baseline),
            )
        ],
        pictures=[
            Picture(
                f"{metric.replace('_', '-')}-against-{axis.replace('_', '-')}{suffix}",
                ", ".join(
                    filter(None, (f"The {definition(metric).title_in(unit)} against {against}", setting))
                ),
                _READING.format(axis=against),
                study_curves(
                    curves,
                    _panels(curves, metric),
                    x=unit.in_service(_AXIS_LABELS[axis]).format(time=unit.singular),
                    y=definition(metric).label(unit),
                ),
            )
            for metric in metrics
        ],
    )


def _panels(curves: Sequence[Curve], metric: str) -> dict[str, str]:
    """Columns of the mean and the quantiles by title; a metric of whole runs has one column."""
    names = [column for column in curves[0].rows[0].columns if column.endswith("_observations")]
    columns = [
        name.removesuffix("_observations")
        for name in names
        if metric in _OF_REQUESTS and name.startswith(f"{metric}_")
    ]
    return {column.removeprefix(f"{metric}_"): column for column in columns} or {"": metric}


def _table(curves: Sequence[Curve], metric: str, axis: str, unit: TimeUnit) -> Table:
    panels = _panels(curves, metric)
    rows = [
        (
            _row_name(curve, axis, x, alone=curve.constant) + _MARKS.get(curve.verdicts[place] or "", ""),
            *(with_interval(estimates[column][place]) for column in panels.values()),
        )
        for curve in curves
        for estimates in ({column: curve.estimates(column) for column in panels.values()},)
        for place, x in enumerate(curve.x[:1] if curve.constant else curve.x)
    ]
    title = definition(metric).label(unit)
    if any("±" in cell for row in rows for cell in row):
        title += ", ± half of a 95 % interval over replications"
    doubtful = any("undecided" in curve.verdicts for curve in curves)
    return Table(title, ("policy", *panels), rows, notes=[_UNDECIDED] if doubtful else ())


def _difference_tables(
    curves: Sequence[Curve], metric: str, axis: str, unit: TimeUnit, *, baseline: str | None
) -> list[Table]:
    """How all others differ from the baseline; no table without one, or without others."""
    bases = [curve for curve in curves if curve.label == baseline]
    others = [curve for curve in curves if curve.label != baseline]
    if not (bases and others):
        return []
    base = dict(zip(bases[0].x, bases[0].rows, strict=True))
    confidence = 1 - 0.05 / len(others)
    panels = _panels(curves, metric)
    rows = [
        (
            _row_name(curve, axis, x, alone=alone),
            *(with_interval(paired_difference(each, base[x], name, confidence)) for name in panels.values()),
        )
        for curve in others
        for alone in (curve.constant and bases[0].constant,)
        for x, each in list(zip(curve.x, curve.rows, strict=True))[: 1 if alone else None]
        if x in base
    ]
    joint = "95 % intervals" if len(others) == 1 else f"{len(others)} intervals hold at once with 95 %"
    title = f"difference from {baseline} in {definition(metric).label(unit)}, paired by replication, {joint}"
    return [Table(title, ("policy", *panels), rows)]


def _row_name(curve: Curve, axis: str, x: float, *, alone: bool) -> str:
    """The label, with the place on the axis unless the row stands for all of them."""
    return curve.label if alone else f"{curve.label}, {axis.replace('_', ' ')} {x:g}"
