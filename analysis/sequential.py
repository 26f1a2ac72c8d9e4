"""How many replications: as many as an interval of the wanted width takes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from analysis.definitions import check_request_metric
from analysis.estimate import Estimate
from analysis.outcome import Outcome
from analysis.statistic import MEAN
from analysis.text import two_digits

FEWEST = 10
"""Replications before the first look: with fewer the width itself is a matter of chance."""

_GROWTH = 1.5  # between looks; the more looks, the more a lucky narrow interval is picked


@dataclass(frozen=True)
class Target:
    """A statistic and how precisely it is wanted.

    Parameters
    ----------
    metric, statistic : str
        What is estimated, as in ``e2el`` and ``p99``.
    precision : float
        Largest relative error g, above 0.

    Raises
    ------
    ValueError
        If there is no such metric or the precision is not above 0.
    """

    metric: str
    statistic: str
    precision: float

    def __post_init__(self) -> None:
        check_request_metric(self.metric, "until")
        if not (math.isfinite(self.precision) and self.precision > 0):
            wanted = f"{self.name}:{100 * self.precision:g}%"
            raise ValueError(f"until={wanted!r}: the precision must be > 0")

    @property
    def name(self) -> str:
        """As on the command line, ``e2el.p99``."""
        return f"{self.metric}.{self.statistic}"

    def estimate(self, outcome: Outcome) -> Estimate:
        """The estimate that is to be precise."""
        return outcome.metrics[self.metric][self.statistic]

    def error(self, outcome: Outcome) -> float | None:
        """Half width of the interval over the value, None where either is missing or the value is 0."""
        estimate = self.estimate(outcome)
        if estimate.half_width is None or estimate.value is None:
            return None
        if estimate.half_width == 0:
            return 0.0
        return estimate.half_width / abs(estimate.value) if estimate.value else None

    def reached(self, outcome: Outcome) -> bool:
        """Whether the estimate is precise enough.

        Notes
        -----
        An interval of relative half width g / (1 + g) around the estimate holds values that are off by
        at most g of the truth (Law 2015, "Simulation modeling and analysis", section 9.4.1).
        """
        error = self.error(outcome)
        return error is not None and error <= self.precision / (1 + self.precision)


def check_targets(targets: Iterable[Target], statistics: Sequence[str]) -> None:
    """Refuse targets whose statistic is not estimated.

    Raises
    ------
    ValueError
        If there is one.
    """
    known = (MEAN.name, *statistics)
    for target in targets:
        if target.statistic not in known:
            raise ValueError(f"until={target.name!r}: the statistic must be one of {', '.join(known)}")


def next_size(outcomes: Sequence[Outcome], targets: Sequence[Target], *, most: int) -> int | None:
    """Replications to go on to, None where there is nothing to go on for.

    Parameters
    ----------
    outcomes : sequence of Outcome
        One a policy, on equally many replications.
    targets : sequence of Target
        What is wanted of each policy.
    most : int
        Most replications.

    Returns
    -------
    int or None
        None where all is reached, the most is spent, or an estimate carries no interval: growing queues
        and too short runs are not mended by more of them.
    """
    count = len(outcomes[0].runs)
    errors = [target.error(outcome) for outcome in outcomes for target in targets]
    reached = all(target.reached(outcome) for outcome in outcomes for target in targets)
    if reached or count >= most or None in errors:
        return None
    return min(most, math.ceil(count * _GROWTH))


def state(outcomes: Sequence[Outcome], targets: Sequence[Target]) -> str:
    """Where the targets stand, for the least precise policy: ``e2el.p99 ± 7.3 % of 5 %``."""
    return ", ".join(
        f"{target.name} ± {percent(max(target.error(outcome) or 0 for outcome in outcomes))} "
        f"of {percent(target.precision)}"
        for target in targets
    )


def records(outcomes: Sequence[Outcome], targets: Sequence[Target]) -> list[dict[str, Any]]:
    """What became of each target under each policy, as plain objects for JSON."""
    return [
        {
            "policy": outcome.policy,
            "target": target.name,
            "wanted": target.precision,
            "relative_half_width": target.error(outcome),
            "reached": target.reached(outcome),
            "note": target.estimate(outcome).note,
        }
        for outcome in outcomes
        for target in targets
    ]


def percent(share: float) -> str:
    """Two significant digits, or all before the point: ``7.3 %``, ``250 %``."""
    return f"{two_digits(100 * share)} %"
