"""Tables, sentences and pictures of a capacity measurement."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from analysis.attainment import ATTAINED
from analysis.capacity import AT_LEAST, BELOW, ONE_SEQUENCE, WIDTH, Limit
from analysis.definitions import definition
from analysis.estimate import Estimate
from analysis.experiments.capacity.measured import Capacity, Point, Question
from analysis.goodput import objectives_in_words
from analysis.plots.load_curves import load_curves
from analysis.plots.ratios import Line
from analysis.report import Picture, Section
from analysis.stability import UNDECIDED
from analysis.statistic import MEAN, quantiles
from analysis.tables import Table
from analysis.text import ABSENT, with_interval
from analysis.time_unit import TimeUnit

_MARKS = {"unstable": " !", "undecided": " ?"}

_GROWING = "! the queue grows: the number depends on the length of the run"

_READING = (
    "A line ends where its policy no longer keeps up; at a hollow square the runs are too short to tell "
    "whether it does."
)

_OPEN = (
    "at least: so it still is where requests come a quarter faster than they are served from a backlog, the "
    "fastest that was tried"
)

_NOWHERE = "below: so it is not yet at this rate, the slowest that was tried"

_SEEN = (
    f"each rate was seen to be served so; bisection ended where one at most {100 * WIDTH:g} % above was not"
)

_BOUNDS = {AT_LEAST: _OPEN, BELOW: _NOWHERE}


def capacity_section(found: Capacity, question: Question, time_unit: TimeUnit) -> Section:
    """Tables and pictures of the limits and the curves."""
    return Section(
        "capacity",
        "What each policy can serve",
        _measures(found, question, time_unit),
        _sentences(found, question, time_unit),
        [limits_table(found, question, time_unit), *_curve_tables(found, question, time_unit)],
        _pictures(found, question, time_unit),
    )


def limits_table(found: Capacity, question: Question, time_unit: TimeUnit) -> Table:
    """The largest rates and loads of every policy."""
    header = ["policy", "keeps up to, rate"]
    columns = [{policy: limit.rate for policy, limit in found.stable.items()}]
    if found.full is not None:
        header.append("load")
        columns.append({policy: found.load(limit) for policy, limit in found.stable.items()})
    if question.objectives is not None:
        header.append("meets objectives to, rate")
        columns.append({policy: limit.rate for policy, limit in found.attaining.items()})
        if found.full is not None:
            header.append("load")
            columns.append({policy: found.load(limit) for policy, limit in found.attaining.items()})
    rows = [(policy, *(_bounded(column[policy]) for column in columns)) for policy in found.stable]
    title = f"largest arrival rates in requests per {time_unit.singular}"
    if found.note is None:
        title += ", ± half of a 95 % interval"
    return Table(title, header, rows, notes=_limit_notes(found))


def _limit_notes(found: Capacity) -> list[str]:
    limits = [*found.stable.values(), *found.attaining.values()]
    notes = {limit.rate.note for limit in limits}
    return [
        *([_SEEN] if ONE_SEQUENCE in notes else []),
        *(text for note, text in _BOUNDS.items() if note in notes),
        *([] if found.note is None else [found.note]),
    ]


def _objectives(question: Question, time_unit: TimeUnit) -> str:
    assert question.objectives is not None
    limits = objectives_in_words(question.objectives, time_unit)
    return f"{100 * question.share:g} % of the requests meet {limits}"


def _measures(found: Capacity, question: Question, time_unit: TimeUnit) -> list[str]:
    interval = (
        "in every replication, which gives it an interval. "
        if found.note is None
        else f"({found.note}, and it holds for a log of this length: in a longer one a queue may grow that "
        "emptied here). "
    )
    texts = [
        (
            "A policy keeps up with a rate of arrivals if its waiting queue still empties in the second half "
            f"of the run. The largest such rate is found by bisection {interval}All policies serve the same "
            "requests, whose arrivals come faster or slower as a whole."
        )
    ]
    if question.objectives is not None:
        texts.append(
            f"Objectives are met if {_objectives(question, time_unit)}, counted over the requests of a run."
        )
    return texts


def _sentences(found: Capacity, question: Question, time_unit: TimeUnit) -> list[str]:
    unit = f"requests per {time_unit.singular}"
    texts = []
    for policy, limit in found.stable.items():
        text = f"{policy} keeps up with {_limit(found, limit, unit)}"
        if question.objectives is not None:
            text += f" and meets the objectives up to {_limit(found, found.attaining[policy], unit)}"
        texts.append(f"{text}.")
    return texts


def _limit(found: Capacity, limit: Limit, unit: str) -> str:
    load = found.load(limit)
    beside = "" if load.value is None else f", a load of {_bounded(load)}"
    return f"{_bounded(limit.rate)} {unit}{beside}"


def _bounded(estimate: Estimate) -> str:
    words = {AT_LEAST: "at least ", BELOW: "below "}
    return words.get(estimate.note or "", "") + with_interval(estimate)


def _curve_tables(found: Capacity, question: Question, time_unit: TimeUnit) -> list[Table]:
    header = ("policy", *(f"load {load:g}" for load in question.loads))
    tables = []
    for statistic in _statistics(question):
        lines = {policy: found.points(statistic, policy) for policy in found.stable}
        shown = list(chain.from_iterable(lines.values()))
        tables.append(
            Table(
                f"{statistic} of the {definition(question.metric).label(time_unit)}"
                if statistic != ATTAINED
                else "share of the requests that meet the objectives",
                header,
                [(policy, *map(_cell, points)) for policy, points in lines.items()],
                notes=[
                    *([_GROWING] if any(point.verdict == "unstable" for point in shown) else []),
                    *_missing(shown),
                    *_shortages(shown),
                ],
            )
        )
    return tables


def _missing(points: Sequence[Point]) -> list[str]:
    """Why points have no value, each reason once."""
    notes = (point.estimate.note for point in points if point.estimate.value is None)
    return list(dict.fromkeys(f"{ABSENT}: {note}" for note in notes if note is not None))


def _shortages(points: Sequence[Point]) -> list[str]:
    """Why points have no interval though no queue is seen to grow: one line for all of them."""
    short = [point for point in points if _too_short(point)]
    undecided = any(point.verdict == "undecided" for point in points)
    reasons = [*([_shortage(short)] if short else []), *([UNDECIDED] if undecided else [])]
    return [f"? no interval: {', or '.join(reasons)}"] if reasons else []


def _shortage(short: Sequence[Point]) -> str:
    """The reason of all of them; where reasons differ, as the numbers needed do, that at the highest load."""
    worst = max(short, key=lambda point: point.load)
    reason = (worst.estimate.note or "").removeprefix("no interval: ").removesuffix(": no interval")
    if len({point.estimate.note for point in short}) == 1:
        return reason
    return f"{reason} for {worst.policy} at load {worst.load:g}, the highest of these loads"


def _too_short(point: Point) -> bool:
    estimate = point.estimate
    return point.verdict not in _MARKS and estimate.value is not None and estimate.note is not None


def _cell(point: Point) -> str:
    mark = " ?" if _too_short(point) else _MARKS.get(point.verdict or "", "")
    return with_interval(point.estimate) + mark


def _statistics(question: Question) -> list[str]:
    latencies = [statistic.name for statistic in (MEAN, *quantiles(question.percentiles))]
    return latencies if question.objectives is None else [*latencies, ATTAINED]


def _pictures(found: Capacity, question: Question, time_unit: TimeUnit) -> list[Picture]:
    latencies = [name for name in _statistics(question) if name != ATTAINED]
    panels, pictures = _panels(found, latencies), []
    if any(loads for lines in panels.values() for loads, _ in lines.values()):
        pictures.append(
            Picture(
                "latency-against-load",
                f"The {definition(question.metric).title} against load",
                f"One panel a statistic, one line a policy. {_READING}",
                load_curves(
                    panels,
                    definition(question.metric).label(time_unit),
                    undecided=_panels(found, latencies, ("undecided",)),
                ),
            )
        )
    if question.objectives is not None:
        pictures.append(
            Picture(
                "attainment-against-load",
                "Share of the requests that meet the objectives, against load",
                f"One line a policy. {_READING}",
                load_curves(
                    _panels(found, [ATTAINED]),
                    "share of requests",
                    scale="linear",
                    undecided=_panels(found, [ATTAINED], ("undecided",)),
                ),
            )
        )
    return pictures


def _panels(
    found: Capacity,
    statistics: Sequence[str],
    verdicts: Sequence[str | None] = ("stable", "undecided", None),
) -> dict[str, dict[str, Line]]:
    """Lines through the points with one of the verdicts."""
    return {
        statistic: {policy: _line(found.points(statistic, policy), verdicts) for policy in found.stable}
        for statistic in statistics
    }


def _line(points: Sequence[Point], verdicts: Sequence[str | None]) -> Line:
    shown = [
        (point.load, point.estimate.value)
        for point in points
        if point.verdict in verdicts and point.estimate.value is not None
    ]
    return [load for load, _ in shown], [value for _, value in shown]
