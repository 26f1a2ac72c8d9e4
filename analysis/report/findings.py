"""What a comparison found, in sentences: the head of its report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from analysis.compare import Comparison, Difference, differences_from
from analysis.definitions import definition
from analysis.outcome import Outcome
from analysis.statistic import MEAN
from analysis.text import number, spread
from analysis.time_unit import TimeUnit


def headline(comparison: Comparison, time_unit: TimeUnit) -> str:
    """One sentence: which policy has the lowest mean of the first metric, if the run can tell.

    Policies whose queue grows as long as requests arrive do not compete: their latency is as large as the
    run is long.
    """
    metric = comparison.metrics[0]
    absent = _absence(comparison, metric)
    if absent is not None:
        return absent
    late = [outcome.policy for outcome in comparison.outcomes if outcome.unstable]
    values = {
        outcome.policy: value
        for outcome in comparison.outcomes
        if not outcome.unstable and (value := _mean(outcome, metric)) is not None
    }
    if not values:
        return f"No policy keeps up with these arrivals: {', '.join(late)}"
    found = _lowest(comparison, values, time_unit)
    return f"{found}; the queue grows under {_and(late)}" if late else found


def _lowest(comparison: Comparison, values: Mapping[str, float], time_unit: TimeUnit) -> str:
    """Whose mean is the lowest of ``values``, by policy, and whether every other is surely higher."""
    metric = comparison.metrics[0]
    title = f"mean {definition(metric).title}"
    best = min(values, key=values.__getitem__)
    measured = _with_unit(number(values[best]), metric, time_unit)
    if len(values) == 1:
        return f"{best} has a {title} of {measured}"
    verdicts = {
        each.policy: each.verdict
        for each in differences_from(comparison, best, metric, values.keys() - {best})
    }
    same = [policy for policy, verdict in verdicts.items() if verdict == "identical"]
    if len(same) == len(verdicts):
        return f"{_and([best, *same])} have the same {title}: {measured}"
    who = f"{_and([best, *same])} {'have' if same else 'has'} the lowest {title}"
    if set(verdicts.values()) <= {"higher", "identical"}:
        return f"{who}: {measured}"
    others = [values[policy] for policy in verdicts if policy not in same]
    against = _with_unit(f"{number(values[best])} against {spread(others)}", metric, time_unit)
    return f"{who} on these requests, {against}; whether it holds for others like them is open"


def _absence(comparison: Comparison, metric: str) -> str | None:
    """Why there is no mean of a metric, None where there is one; it is the same for all policies."""
    mean = comparison.outcomes[0].metrics[metric][MEAN.name]
    return f"There is no mean {definition(metric).title}: {mean.note}" if mean.value is None else None


def findings(comparison: Comparison, time_unit: TimeUnit) -> list[str]:
    """How each policy differs from the baseline in the mean of every metric, and who keeps alpha."""
    found = []
    for metric in comparison.metrics:
        absent = _absence(comparison, metric)
        if absent is not None:
            found += [f"{absent}."] if metric != comparison.metrics[0] else []  # the headline says it
            continue
        found += [
            _difference(comparison, comparison.difference(outcome.policy, metric, MEAN.name), time_unit)
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
        case "not enough data" | "one log" | "one draw":
            return (
                f"{policy} has a {mean} of {both} under {baseline} on these requests; whether it holds for "
                "others like them is open."
            )
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
