"""How the policies of a study differ from one of them, which met the same arrivals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd

from analysis.definitions import MAXIMA
from analysis.estimate import Estimate
from analysis.outward import withhold_outward
from analysis.replications import interval
from analysis.simultaneous import confidence_of_each
from analysis.study.curves import Curve, columns_of, over_replications, settings, statistics_of


@dataclass(frozen=True)
class Paired:
    """One policy against the baseline, at one place of the axis.

    Attributes
    ----------
    label : str
        The policy, as its curve is called.
    x : float or None
        Where on the axis; None where neither of the two depends on it.
    estimates : mapping of str to Estimate
        Value less that of the baseline by statistic, as in ``p99``; a metric of whole runs has the
        one called ``""``.
    """

    label: str
    x: float | None
    estimates: Mapping[str, Estimate]


def check_baseline(baseline: str, settings: Iterable[Sequence[Curve]]) -> None:
    """Refuse a baseline that is no curve of any setting.

    Raises
    ------
    ValueError
        If no curve has that label; the message lists the labels.
    """
    labels = dict.fromkeys(curve.label for curves in settings for curve in curves)
    if baseline not in labels:
        raise ValueError(f"baseline={baseline!r}: must be one of {', '.join(labels)}")


def paired_differences(curves: Sequence[Curve], metric: str, baseline: str) -> list[Paired]:
    """Differences of one setting in a metric; none where it lacks the baseline.

    Parameters
    ----------
    curves : sequence of Curve
        All of the setting.
    metric : str
        Key of `analysis.definitions.REQUEST_METRICS` or ``RUN_METRICS``.
    baseline : str
        Label of the curve from which all others are told apart.
    """
    bases = [curve for curve in curves if curve.label == baseline]
    others = [curve for curve in curves if curve.label != baseline]
    if not bases:
        return []
    base = dict(zip(bases[0].x, bases[0].rows, strict=True))
    columns, confidence = columns_of(curves, metric), confidence_of_each(len(curves) - 1)
    statistics = statistics_of(columns)
    return [
        Paired(
            curve.label,
            None if alone else x,
            withhold_outward(
                statistics,
                {
                    name: paired_difference(rows, base[x], column, confidence)
                    for name, column in columns.items()
                },
            ),
        )
        for curve in others
        for alone in (curve.constant and bases[0].constant,)
        for x, rows in list(zip(curve.x, curve.rows, strict=True))[: 1 if alone else None]
        if x in base
    ]


def difference_records(
    table: pd.DataFrame, metrics: Sequence[str], axis: str, baseline: str
) -> list[dict[str, Any]]:
    """All differences of a study as plain objects for JSON.

    Parameters
    ----------
    table : DataFrame
        Of `analysis.study.study_table`.
    metrics : sequence of str
        Keys of `analysis.definitions.REQUEST_METRICS` and ``RUN_METRICS``.
    axis : str
        What the curves run along, one of `analysis.study.curves.AXES`.
    baseline : str
        Label of the curve from which all others are told apart.
    """
    return [
        {
            "setting": setting or None,
            axis: found.x,
            "policy": found.label,
            "baseline": baseline,
            "metric": metric,
            "statistic": statistic or None,
            "confidence": confidence_of_each(len(curves) - 1),
            "estimate": asdict(estimate),
        }
        for setting, curves in settings(table, axis).items()
        for metric in metrics
        for found in paired_differences(curves, metric, baseline)
        for statistic, estimate in found.estimates.items()
    ]


def paired_difference(
    rows: pd.DataFrame, baseline: pd.DataFrame, column: str, confidence: float = 0.95
) -> Estimate:
    """Mean difference in a column from a baseline that met the same arrivals in each replication.

    Parameters
    ----------
    rows, baseline : DataFrame
        Rows of a study table, each differing in the replication alone.
    column : str
        Name of a column of numbers.
    confidence : float
        Nominal coverage of the interval.

    Returns
    -------
    Estimate
        Over the replications that both have, with Student's interval where both sides may have one. Of
        `MAXIMA` it is the difference of both.
    """
    one, other = rows.set_index("replication"), baseline.set_index("replication")
    shared = one.index.intersection(other.index)
    if shared.empty:
        return Estimate(None, note="no replication in common")
    sides = [over_replications(side.loc[shared], column) for side in (one, other)]
    notes = [side.note for side in sides if side.note is not None]
    values = [side.value for side in sides if side.value is not None]
    if len(values) < len(sides):
        return Estimate(None, note=notes[0])
    if column in MAXIMA:
        return Estimate(values[0] - values[1], note=notes[0])
    differences = (one.loc[shared, column] - other.loc[shared, column]).astype("float64")
    if notes:
        return Estimate(float(differences.mean()), note=notes[0])
    return interval(differences.tolist(), confidence)
