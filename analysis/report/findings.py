"""What a comparison found, in sentences: the head of its report."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from analysis.compare import Comparison, Difference
from analysis.definitions import definition
from analysis.outcome import Outcome
from analysis.statistic import MEAN
from analysis.text import number
from analysis.time_unit import TimeUnit


def headline(comparison: Comparison, time_unit: TimeUnit) -> str:
    """One sentence: which policy has the lowest mean of the first metric, if the run can tell.

    Policies whose queue grows as long as requests arrive do not compete: their latency is as large as the
    run is long.
    """
    metric = comparison.metrics[0]
    title = definition(metric).title
    able = [outcome for outcome in comparison.outcomes if not outcome.unstable]
    values = {each.policy: value for each in able if (value := _mean(each, metric)) is not None}
    if not values:
        late = ", ".join(outcome.policy for outcome in comparison.outcomes)
        return f"No policy keeps up with these arrivals: {late}"
    best = min(values, key=values.__getitem__)
    measured = _with_unit(number(values[best]), metric, time_unit)
    if len(comparison.outcomes) == 1:
        return f"{best} has a mean {title} of {measured}"
    if _sure(comparison, best, values):
        return f"{best} has the lowest mean {title}: {measured}"
    return f"{best} has the lowest mean {title}, {measured}, but this may be chance"


def _sure(comparison: Comparison, best: str, able: Collection[str]) -> bool:
    """Whether the best is surely better than the baseline, or than the others where it is the baseline."""
    metric = comparison.metrics[0]
    if best != comparison.baseline:
        return comparison.difference(best, metric, MEAN.name).verdict in ("lower", "no steady state")
    others = [policy for policy in able if policy != best]
    return all(
        comparison.difference(each, metric, MEAN.name).verdict in ("higher", "identical") for each in others
    )


def findings(comparison: Comparison, time_unit: TimeUnit) -> list[str]:
    """How each policy differs from the baseline in the mean of every metric, and who keeps alpha."""
    found = [
        _difference(comparison, comparison.difference(outcome.policy, metric, MEAN.name), time_unit)
        for metric in comparison.metrics
        for outcome in comparison.outcomes[1:]
    ]
    return [*found, *_fairness(comparison.outcomes, time_unit)]


def _difference(comparison: Comparison, difference: Difference, time_unit: TimeUnit) -> str:
    policy, baseline = difference.policy, difference.baseline
    mean = f"mean {definition(difference.metric).title}"
    values = {each.policy: number(_mean(each, difference.metric)) for each in comparison.outcomes}
    unit = definition(difference.metric).unit_in(time_unit)
    both = f"{values[policy]} against {values[baseline]} {unit}".rstrip()
    match difference.verdict:
        case "lower" | "higher" as verdict:
            assert difference.estimate.low is not None
            assert difference.estimate.high is not None
            least, most = sorted((abs(difference.estimate.low), abs(difference.estimate.high)))
            by = f"{verdict} by {number(least)} to {number(most)}"
            return f"{policy} has a {verdict} {mean} than {baseline}: {both}, {by}."
        case "identical":
            return f"{policy} and {baseline} have the same {definition(difference.metric).title} throughout."
        case "cannot tell apart":
            return f"{policy} and {baseline} cannot be told apart by their {mean}: {both}."
        case "not enough data" | "one log":
            return f"{policy} has a {mean} of {both} under {baseline}; how much of it is chance is open."
        case "no steady state":
            late = [each.policy for each in comparison.outcomes if each.unstable]
            which = _and([each for each in (policy, baseline) if each in late])
            return f"{policy} and {baseline} are not compared, since the queue grows under {which}."


def _fairness(outcomes: Sequence[Outcome], time_unit: TimeUnit) -> list[str]:
    """Who keeps alpha and who does not; nothing without an alpha."""
    kept = [outcome.policy for outcome in outcomes if outcome.fair]
    broken = [outcome.policy for outcome in outcomes if outcome.fair is False]
    if not kept:
        return [f"{_and(broken)} {'break' if broken[1:] else 'breaks'} alpha."] if broken else []
    alpha = time_unit.in_service("alpha tokens")
    keep = f"{_and(kept)} {'keep' if kept[1:] else 'keeps'} the requests of a batch within {alpha}"
    not_so = f"; {_and(broken)} {'do' if broken[1:] else 'does'} not" if broken else ""
    return [f"{keep} of each other{not_so}."]


def _mean(outcome: Outcome, metric: str) -> float | None:
    return outcome.metrics[metric][MEAN.name].value


def _with_unit(value: str, metric: str, time_unit: TimeUnit) -> str:
    return f"{value} {definition(metric).unit_in(time_unit)}".rstrip()


def _and(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
