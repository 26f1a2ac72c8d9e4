"""Results as tables of text, the same for terminal and report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import truediv
from statistics import fmean

from analysis.compare import Comparison, Difference, Verdict
from analysis.definitions import REQUEST_METRICS, RUN_METRICS, Definition, definition
from analysis.estimate import Estimate
from analysis.goodput import objectives_in_words
from analysis.outcome import Outcome
from analysis.robustness import Robustness
from analysis.sequential import Target, percent
from analysis.statistic import MEAN
from analysis.text import ABSENT, number, spread, with_interval
from analysis.time_unit import TimeUnit
from serving_sim import Run
from serving_sim.request import exact_sum

_MARKS: dict[Verdict, str] = {
    "cannot tell apart": "~",
    "not enough data": "?",
    "no steady state": "!",
    "one draw": "*",
}

_WHOLE_RUN = ("throughput", "goodput", "goodput_share", "makespan", "occupancy", "extent_mean", "extent_max")

_ONLY_A_LONGER_LOG = (
    "? no interval: the number is that of the requests of this log, "
    "only a longer one tells of others like them"
)

_LONGER_RUNS = "? no interval, and more replications give none: raise --num-prompts to the number needed"


@dataclass(frozen=True)
class Table:
    """Rows of text under a header; the first column names the row.

    ``numbers`` says whether the other columns hold numbers, which stand to the right; ``notes`` are
    sentences below the rows.
    """

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: bool = True
    notes: Sequence[str] = ()


def run_tables(outcome: Outcome, time_unit: TimeUnit) -> list[Table]:
    """Latency metrics of one policy, what the whole run came to, and what predictions were worth."""
    return [_latencies(outcome, time_unit), _totals(outcome, time_unit), *_predictions([outcome], time_unit)]


def comparison_tables(comparison: Comparison, time_unit: TimeUnit, *, intervals: bool = False) -> list[Table]:
    """For each metric the policies and their differences, and what the whole runs came to.

    ``intervals`` gives the values of each policy theirs, which a page has room for.
    """
    shown = with_interval if intervals else _value
    tables = []
    for metric in comparison.metrics:
        tables.append(_policies(comparison, metric, time_unit, shown))
        if len(comparison.outcomes) > 1:
            tables.append(_differences(comparison, metric, time_unit))
    return [
        *tables,
        _whole_runs(comparison, time_unit, shown),
        *_predictions(comparison.outcomes, time_unit),
    ]


def _latencies(outcome: Outcome, time_unit: TimeUnit) -> Table:
    rows = [
        (entry.title, *(with_interval(value) for value in outcome.metrics[entry.key].values()))
        for entry in REQUEST_METRICS
    ]
    title = f"{outcome.policy}, times in {time_unit.plural}, {_carried(outcome)}"
    notes = [
        *stability_notes([outcome], time_unit),
        *missing_values(outcome, [entry.key for entry in REQUEST_METRICS]),
    ]
    return Table(title, ("metric", *outcome.metrics["e2el"]), rows, notes=notes)


def precision_tables(outcomes: Sequence[Outcome], targets: Sequence[Target]) -> list[Table]:
    """Whether what ``--until`` asked for was reached; no table where it asked for nothing."""
    if not targets:
        return []
    rows = [
        (
            f"{outcome.policy}, {target.name}",
            _precise(target.estimate(outcome)),
            ABSENT if (error := target.error(outcome)) is None else percent(error),
            percent(target.precision),
            "yes" if target.reached(outcome) else "no",
        )
        for outcome in outcomes
        for target in targets
    ]
    reasons = list(
        dict.fromkeys(
            note
            for outcome in outcomes
            for target in targets
            if (note := target.estimate(outcome).note) is not None
        )
    )
    if any(note.startswith("not enough data") for note in reasons):
        reasons.append(_LONGER_RUNS)
    title = f"precision after {len(outcomes[0].runs)} replications"
    header = ("", "value", "half of the interval", "wanted", "reached")
    return [Table(title, header, rows, notes=reasons)]


def _precise(estimate: Estimate) -> str:
    bare = estimate.value is not None and estimate.low is None
    return f"{with_interval(estimate)} ?" if bare else with_interval(estimate)


def stability_notes(outcomes: Sequence[Outcome], time_unit: TimeUnit) -> list[str]:
    """One sentence for each policy that does not keep up, or may not."""
    notes = []
    for outcome in outcomes:
        found = outcome.stability
        if found is None or found.verdict == "stable":
            continue
        grows = f"its queue grows by {number(found.growth)} requests per {time_unit.singular}"
        if found.verdict == "unstable":
            notes.append(
                f"{outcome.policy} does not keep up: {found.reason}; {grows}, so latencies grow with the "
                "length of the run and carry no intervals"
            )
        else:
            notes.append(
                f"{outcome.policy} may not keep up: {found.reason}; its latencies carry no intervals"
            )
    return notes


def missing_values(outcome: Outcome, metrics: Sequence[str]) -> list[str]:
    """Why some statistics have no value, each reason once with the metrics it holds for."""
    holders: dict[str, list[str]] = {}
    for metric in metrics:
        for note in dict.fromkeys(
            each.note for each in outcome.metrics[metric].values() if each.value is None and each.note
        ):
            holders.setdefault(note, []).append(definition(metric).title)
    return [
        note if len(titles) == len(metrics) else f"{', '.join(titles)}: {note}"
        for note, titles in holders.items()
    ]


def _totals(outcome: Outcome, time_unit: TimeUnit) -> Table:
    rows = [
        (entry.label(time_unit), with_interval(outcome.figures[entry.key]))
        for entry in RUN_METRICS
        if entry.key in outcome.figures
    ]
    rows += _token_rates(outcome, time_unit)
    rows += [("fair (violations)", _fairness(outcome)), ("keeps up", _keeps_up(outcome))]
    notes = [*_objective_notes(outcome, time_unit), *_chunk_notes(outcome, time_unit)]
    return Table("whole run", ("", "value"), rows, notes=notes)


def _objective_notes(outcome: Outcome, time_unit: TimeUnit) -> list[str]:
    """What a request had to keep to, for goodput and attainment."""
    goodput = outcome.summaries[0].goodput
    if goodput is None:
        return []
    title = definition("goodput_share").title
    return [f"{title}: share of the requests with {objectives_in_words(goodput.objectives, time_unit)}"]


def _value(estimate: Estimate) -> str:
    return number(estimate.value)


def _policies(
    comparison: Comparison, metric: str, time_unit: TimeUnit, shown: Callable[[Estimate], str]
) -> Table:
    rows = [
        (outcome.policy, *(shown(outcome.metrics[metric][name]) for name in comparison.statistics))
        for outcome in comparison.outcomes
    ]
    notes = dict.fromkeys(
        note for outcome in comparison.outcomes for note in missing_values(outcome, [metric])
    )
    header = ("policy", *comparison.statistics)
    title = definition(metric).label(time_unit)
    if shown is with_interval:
        title += f", {_carried(comparison.outcomes[0])}"
    return Table(title, header, rows, notes=list(notes))


def _differences(comparison: Comparison, metric: str, time_unit: TimeUnit) -> Table:
    rows = [
        (
            outcome.policy,
            *(
                _difference(comparison.difference(outcome.policy, metric, name))
                for name in comparison.statistics
            ),
        )
        for outcome in comparison.outcomes[1:]
    ]
    reductions = [
        each.variance_reduction
        for each in comparison.differences
        if (each.metric, each.statistic) == (metric, MEAN.name) and each.variance_reduction is not None
    ]
    joint = _jointly(comparison.outcomes)
    verdicts = {each.verdict for each in comparison.differences if each.metric == metric}
    legend = ", ".join(f"{mark} {verdict}" for verdict, mark in _MARKS.items() if verdict in verdicts)
    title = f"difference from {comparison.baseline} in {definition(metric).label(time_unit)}, {joint}" + (
        f"; {legend}" if legend else ""
    )
    short = [_ONLY_A_LONGER_LOG] if comparison.log and "not enough data" in verdicts else []
    notes = [*short, *_common_arrivals(reductions)]
    return Table(title, ("policy", *comparison.statistics), rows, notes=notes)


def _carried(outcome: Outcome) -> str:
    return outcome.ruled_out or "with 95 % intervals where the data carry them"


def _jointly(outcomes: Sequence[Outcome]) -> str:
    """What the intervals of the differences promise: the correction counts policies, not statistics."""
    if outcomes[0].ruled_out is not None:
        return outcomes[0].ruled_out
    count = len(outcomes) - 1
    return "95 % intervals" if count == 1 else f"the {count} intervals of a column hold at once with 95 %"


def _common_arrivals(reductions: Sequence[float]) -> list[str]:
    return [
        f"common arrivals {verb} the variance of the differences in the mean {spread(factors)} times"
        for verb, factors in (
            ("cut", [each for each in reductions if each >= 1]),
            ("raised", [1 / each for each in reductions if each < 1]),
        )
        if factors
    ]


def _difference(difference: Difference) -> str:
    if difference.verdict == "identical":
        return difference.verdict
    mark = _MARKS.get(difference.verdict)
    return with_interval(difference.estimate) + ("" if mark is None else f" {mark}")


def run_metrics(comparison: Comparison) -> list[Definition]:
    """Metrics of whole runs that the tables of a comparison show."""
    return [
        entry
        for entry in RUN_METRICS
        if entry.key in _WHOLE_RUN and all(entry.key in outcome.figures for outcome in comparison.outcomes)
    ]


def _whole_runs(comparison: Comparison, time_unit: TimeUnit, shown: Callable[[Estimate], str]) -> Table:
    entries = run_metrics(comparison)
    rows = [
        (
            outcome.policy,
            *(shown(outcome.figures[entry.key]) for entry in entries),
            _fairness(outcome),
            _keeps_up(outcome),
        )
        for outcome in comparison.outcomes
    ]
    titles = [entry.title_in(time_unit) for entry in entries]
    units = ", ".join(
        f"{title} in {entry.unit_in(time_unit)}"
        for title, entry in zip(titles, entries, strict=True)
        if entry.unit
    )
    title = f"whole runs: {units}, admissions that broke alpha in brackets"
    notes = [
        *stability_notes(comparison.outcomes, time_unit),
        *_objective_notes(comparison.outcomes[0], time_unit),
        *_chunk_notes(comparison.outcomes[0], time_unit),
    ]
    return Table(title, ("policy", *titles, "fair", "keeps up"), rows, notes=notes)


def _token_rates(outcome: Outcome, time_unit: TimeUnit) -> list[tuple[str, str]]:
    """Tokens of prompts and outputs per unit of time, where the throughput counts no tokens."""
    if not time_unit.in_chunks:
        return []
    tokens = [_tokens(run) for run in outcome.runs]
    makespans = [run.makespan for run in outcome.runs]
    rates = [fmean(map(truediv, each, makespans)) for each in zip(*tokens, strict=True)]
    return [
        (f"{name} token throughput (tokens per {time_unit.singular})", number(rate))
        for name, rate in zip(("input", "output"), rates, strict=True)
    ]


def _tokens(run: Run) -> tuple[int, int]:
    """Tokens of all prompts and outputs of a run with prompts in chunks."""
    requests = run.requests
    assert requests is not None
    assert requests.prompt_tokens is not None
    assert requests.prompt_steps is not None
    return exact_sum(requests.prompt_tokens), requests.total_length - exact_sum(requests.prompt_steps)


def _chunk_notes(outcome: Outcome, time_unit: TimeUnit) -> list[str]:
    """What a step of service is where it may read several tokens of a prompt."""
    if not time_unit.in_chunks:
        return []
    mean = fmean(sum(_tokens(run)) / run.totals.tokens for run in outcome.runs)
    counted = "one counts as a step of service, as a token of an output does"
    return [f"prompts are read in chunks: {counted}; a step stands for {number(mean)} tokens on average"]


def _keeps_up(outcome: Outcome) -> str:
    words = {"stable": "yes", "unstable": "no", "undecided": "undecided"}
    return ABSENT if outcome.stability is None else words[outcome.stability.verdict]


def _fairness(outcome: Outcome) -> str:
    if outcome.fair is None:
        return ABSENT
    return "yes" if outcome.fair else f"no ({outcome.violations:,})"


def _predictions(outcomes: Sequence[Outcome], time_unit: TimeUnit) -> list[Table]:
    """One column a policy, means over replications; no table where nothing was predicted."""
    found = [_robustness(outcome) for outcome in outcomes]
    if not found[0]:
        return []
    columns = [_prediction_column(each) for each in found]
    rows = [(time_unit.in_service(name), *(column[name] for column in columns)) for name in columns[0]]
    title = "predictions; claims of the paper rest on a theorem that fails for some instances"
    return [Table(title, ("", *(outcome.policy for outcome in outcomes)), rows)]


def _robustness(outcome: Outcome) -> list[Robustness]:
    return [summary.predictions for summary in outcome.summaries if summary.predictions is not None]


def _prediction_column(found: Sequence[Robustness]) -> dict[str, str]:
    packs = [each.delta_pack for each in found if each.delta_pack is not None]
    claims = [each.claim for each in found if each.claim is not None]
    lower, upper = _mean([pack.lower for pack in packs]), _mean([pack.upper for pack in packs])
    return {
        "kappa, least lower / upper": number(min(each.kappa for each in found)),
        "Delta, sum of slacks (tokens)": number(_mean([each.delta for each in found])),
        "mean slack, Delta / sum of lengths": number(_mean([each.mean_slack for each in found])),
        "Delta-pack (tokens)": number(upper) if lower == upper else f"{number(lower)} to {number(upper)}",
        "paper's claim on optimum / makespan, theorem 3.22": number(_mean([c.theorem_3_22 for c in claims])),
        "paper's claim on the same, corollary 3.24": number(_mean([c.corollary_3_24 for c in claims])),
        "certified optimum / makespan, at least": number(_mean([each.certified_ratio for each in found])),
    }


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None
