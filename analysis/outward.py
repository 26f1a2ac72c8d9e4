"""Intervals of quantiles must not outreach those nearer to the middle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from analysis.estimate import Estimate
from analysis.statistic import Statistic


def withhold_outward(statistics: Sequence[Statistic], found: Mapping[str, Estimate]) -> dict[str, Estimate]:
    """Withhold the interval of a quantile where one nearer to the middle, on its side, has none.

    A run too short to have met its rare long queue seems to hold many independent observations of the
    far tail, and an interval from it would miss the truth. Such a run seldom has enough of them for
    the nearer quantiles too, where more observations bear witness.

    Parameters
    ----------
    statistics : sequence of Statistic
        The mean, which stays as it is, and quantiles.
    found : mapping of str to Estimate
        An estimate for each, by name.

    Returns
    -------
    dict of str to Estimate
        In the same order.
    """
    kept = dict(found)
    quantiles = [(each.probability, each.name) for each in statistics if each.probability is not None]
    for side in (
        sorted(each for each in quantiles if each[0] >= 0.5),
        sorted((each for each in quantiles if each[0] <= 0.5), reverse=True),
    ):
        nearer: str | None = None
        for _, name in side:
            if kept[name].low is None:
                nearer = nearer or name
            elif nearer is not None:
                kept[name] = kept[name].withheld(f"not enough data for {nearer}, so none for {name}")
    return kept
