"""A study as pictures and as one HTML page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from analysis.definitions import definition
from analysis.plots.study_curves import study_curves
from analysis.report.pictures import Picture
from analysis.report.section import Section
from analysis.report.sections import sections_page
from analysis.stability import UNDECIDED
from analysis.study.curves import Curve, columns_of, settings
from analysis.study.differences import check_baseline, paired_differences
from analysis.tables import Table
from analysis.text import ABSENT, with_interval
from analysis.time_unit import TimeUnit

_AXIS_LABELS = {
    "load": "load",
    "request_rate": "requests per {time}",
    "alpha": "alpha (tokens)",
    "slots": "slots",
}

_MARKS = {"unstable": " (the queue grows)", "undecided": " (?)"}

_UNDECIDED = f"? {UNDECIDED}: no interval"

_MISSING = f"{ABSENT} a replication has no value: no request has one, or too few for the statistic"

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
    """One section a setting, in it a table a metric, and a picture of each that has values.

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
        check_baseline(baseline, found.values())
    return [
        _section(
            f"setting-{number}", title, curves, metrics=metrics, axis=axis, unit=time_unit, baseline=baseline
        )
        for number, (title, curves) in enumerate(found.items(), start=1)
    ]


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
        title=f"{setting[:1].upper()}{setting[1:]}" or f"Against {against}",
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
                    columns_of(curves, metric),
                    x=unit.in_service(_AXIS_LABELS[axis]).format(time=unit.singular),
                    y=definition(metric).label(unit),
                ),
            )
            for metric in metrics
            if _has_values(curves, metric)
        ],
    )


def _has_values(curves: Sequence[Curve], metric: str) -> bool:
    """Whether there is anything to draw."""
    columns = columns_of(curves, metric).values()
    return any(rows[column].notna().any() for curve in curves for rows in curve.rows for column in columns)


def _table(curves: Sequence[Curve], metric: str, axis: str, unit: TimeUnit) -> Table:
    panels = columns_of(curves, metric)
    rows = [
        (
            _row_name(curve.label, axis, None if curve.constant else x)
            + _MARKS.get(curve.verdicts[place] or "", ""),
            *map(with_interval, estimates[place].values()),
        )
        for curve in curves
        for estimates in (curve.estimates(panels),)
        for place, x in enumerate(curve.x[:1] if curve.constant else curve.x)
    ]
    title = definition(metric).label(unit)
    if any("±" in cell for row in rows for cell in row):
        title += ", ± half of a 95 % interval over replications"
    notes = [_UNDECIDED] if any("undecided" in curve.verdicts for curve in curves) else []
    notes += dict.fromkeys(reason for curve in curves for reason in curve.ruled_out)
    if any(ABSENT in row for row in rows):
        notes.append(_MISSING)
    return Table(title, ("policy", *panels), rows, notes=notes)


def _difference_tables(
    curves: Sequence[Curve], metric: str, axis: str, unit: TimeUnit, *, baseline: str | None
) -> list[Table]:
    """How all others differ from the baseline; no table without one, or without others."""
    found = [] if baseline is None else paired_differences(curves, metric, baseline)
    if not found:
        return []
    rows = [
        (_row_name(each.label, axis, each.x), *map(with_interval, each.estimates.values())) for each in found
    ]
    others = len(curves) - 1
    joint = "95 % intervals" if others == 1 else f"{others} intervals hold at once with 95 %"
    title = f"difference from {baseline} in {definition(metric).label(unit)}, paired by replication, {joint}"
    return [Table(title, ("policy", *found[0].estimates), rows)]


def _row_name(label: str, axis: str, x: float | None) -> str:
    """The label, with the place on the axis unless the row stands for all of them."""
    return label if x is None else f"{label}, {axis.replace('_', ' ')} {x:g}"
