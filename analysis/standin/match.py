"""How well a stand-in matches its log."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from analysis.inspection import Inspection, inspect_workload
from analysis.text import number
from analysis.time_unit import TimeUnit
from serving_sim import Workload

_FACTS = (
    "requests",
    "rate",
    "gap_cv2",
    "peak_second",
    "longest_gap",
    "length_mean",
    "length_p50",
    "length_p90",
    "length_p99",
    "length_max",
    "load",
)
_NOISE = 1.358  # 95 % point of the Kolmogorov distribution


@dataclass(frozen=True)
class Distance:
    """How far two samples are apart.

    Attributes
    ----------
    of : str
        What was compared.
    distance : float
        Kolmogorov-Smirnov distance of log and stand-in.
    noise : float
        What two samples of one distribution exceed once in 20 times.
    """

    of: str
    distance: float
    noise: float


@dataclass(frozen=True)
class Pair:
    """One number of the log and of the stand-in; None where it is not defined."""

    of: str
    log: float | None
    standin: float | None


@dataclass(frozen=True)
class Match:
    """A log beside one workload of its stand-in.

    Attributes
    ----------
    pairs : list of Pair
        Sizes, rates, quantiles, dispersion by time scale, correlations.
    distances : list of Distance
        Of gaps and lengths.
    """

    pairs: list[Pair]
    distances: list[Distance]

    def to_dict(self) -> dict[str, Any]:
        """What ``workload fit --json`` prints."""
        return asdict(self)


def match(log: Workload, standin: Workload, *, slots: int, time_unit: TimeUnit) -> Match:
    """Compare a log with a workload made in its place.

    Parameters
    ----------
    log, standin : Workload
        What to compare.
    slots : int
        Slots that the load counts on.
    time_unit : TimeUnit
        What times are counted in.
    """
    one, other = (inspect_workload(each, slots=slots, seconds=time_unit.seconds) for each in (log, standin))
    pairs = [Pair(name, one.facts[name], other.facts[name]) for name in _FACTS]
    pairs += _dispersion(one, other, time_unit)
    pairs += [
        Pair(f"rank correlation, {name}", value, other.correlations[name])
        for name, value in one.correlations.items()
    ]
    return Match(pairs, _distances(one, other))


def _dispersion(log: Inspection, standin: Inspection, time_unit: TimeUnit) -> list[Pair]:
    """At the widths of the log; those of the stand-in are the same but for the ends, as its span differs."""
    shown, factor = time_unit.as_seconds()
    index = {each.width: each.index for each in standin.dispersion}
    return [
        Pair(
            f"variance / mean of counts, windows in {shown.plural}: {number(each.width * factor)}",
            each.index,
            index.get(each.width),
        )
        for each in log.dispersion
    ]


def _distances(log: Inspection, standin: Inspection) -> list[Distance]:
    samples: dict[str, tuple[NDArray[Any], NDArray[Any]]] = {
        name: (values, standin.lengths[name])
        for name, values in log.lengths.items()
        if name in standin.lengths
    }
    samples["gap"] = (np.diff(log.release), np.diff(standin.release))
    return [
        Distance(
            name,
            float(stats.ks_2samp(one, other, method="asymp").statistic),
            _NOISE * math.sqrt(1 / len(one) + 1 / len(other)),
        )
        for name, (one, other) in samples.items()
    ]
