"""Everything that ``workload inspect`` says, as numbers."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy import stats

from analysis.inspection.dispersion import Dispersion, dispersion_of_counts
from analysis.inspection.facts import workload_facts
from analysis.inspection.families import EXPONENTIAL, GAMMA, LOGNORMAL, WEIBULL, Fitted, fit_families
from serving_sim import Workload
from serving_sim.request import FloatArray, IntArray


@dataclass(frozen=True)
class Inspection:
    """A workload in numbers.

    Attributes
    ----------
    facts : dict of str to float, int or None
        Sizes, rates and peaks; see `workload_facts`.
    correlations : dict of str to float or None
        Spearman's rank correlations; None where one side is constant or unknown.
    dispersion : list of Dispersion
        Burstiness by time scale.
    release : ndarray of float, shape (n,)
        Sorted release times.
    lengths : dict of str to ndarray of int, shape (n,)
        Tokens: ``length``, and ``prompt_tokens`` and ``output_tokens`` where any are known.
    gap_fits : list of Fitted
        Families for the gaps above 0, the closest first.
    length_fits : dict of str to list of Fitted
        Families for each of ``lengths``.
    """

    facts: dict[str, float | int | None]
    correlations: dict[str, float | None]
    dispersion: list[Dispersion]
    release: FloatArray
    lengths: dict[str, IntArray]
    gap_fits: list[Fitted]
    length_fits: dict[str, list[Fitted]]

    def to_dict(self) -> dict[str, Any]:
        """What ``inspect.json`` holds: the facts, and the rest by name."""
        return {
            **self.facts,
            "correlations": self.correlations,
            "dispersion": [asdict(each) for each in self.dispersion],
            "gap_fits": [each.to_dict() for each in self.gap_fits],
            "length_fits": {
                name: [each.to_dict() for each in fits] for name, fits in self.length_fits.items()
            },
        }


def inspect_workload(
    workload: Workload, *, slots: int, seconds: float | None = None, span: float | None = None
) -> Inspection:
    """Look at a workload.

    Parameters
    ----------
    workload : Workload
        n requests.
    slots : int
        Slots that the load counts on, with one step a time unit.
    seconds : float, optional
        Seconds in a time unit, where that is known: arrivals are then counted in a second, and in round
        numbers of them, in the place of time units.
    span : float, optional
        Time units from 0 on in which these requests came and no others, as in a window of a log; rate, load
        and dispersion count its silent ends.
    """
    ordered = workload if workload.arrival_order is None else workload.take(workload.arrival_order)
    lengths = {
        name: column
        for name in ("length", "prompt_tokens", "output_tokens")
        if (column := getattr(ordered, name)) is not None and column.any()
    }
    gaps = np.diff(ordered.release)
    return Inspection(
        facts=workload_facts(ordered, slots=slots, second=1.0 if seconds is None else 1 / seconds, span=span),
        correlations=_correlations(ordered, gaps),
        dispersion=dispersion_of_counts(ordered.release, seconds=seconds, span=span),
        release=ordered.release,
        lengths=lengths,
        gap_fits=fit_families(gaps, (EXPONENTIAL, GAMMA, WEIBULL)),
        length_fits={
            name: fit_families(column, (GAMMA, WEIBULL, LOGNORMAL), whole=True)
            for name, column in lengths.items()
        },
    )


def _correlations(workload: Workload, gaps: FloatArray) -> dict[str, float | None]:
    length = workload.length
    pairs = {
        "gap_with_next_gap": (gaps[:-1], gaps[1:]),
        "length_with_next_length": (length[:-1], length[1:]),
        "length_with_gap_before": (length[1:], gaps),
        "length_with_gap_after": (length[:-1], gaps),
        "prompt_with_output": (workload.prompt_tokens, workload.output_tokens),
    }
    return {name: _rank_correlation(one, other) for name, (one, other) in pairs.items()}


def _rank_correlation(one: Any, other: Any) -> float | None:  # noqa: ANN401 - columns of any kind
    if one is None or other is None or len(one) < 2 or np.ptp(one) == 0 or np.ptp(other) == 0:
        return None
    return float(stats.spearmanr(one, other).statistic)
