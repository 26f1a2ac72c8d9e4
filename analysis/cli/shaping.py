"""From options to the changes that the requests of a file go through, and what is said of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.cli.naming import flag, named
from analysis.cli.options import FileOptions
from analysis.cli.parsing import check_alike, parse_duration
from serving_sim import StepTime, Workload
from serving_sim.how_many import how_many

if TYPE_CHECKING:
    from workloads import ReadReport
    from workloads.shaping import Shaped, Shaping, Step


def shapings(options: FileOptions, *, slots: int, step_time: StepTime) -> list[Shaping]:
    """What to do to the requests of a file, in one order whatever the order of the options.

    First requests are left out, so that ``rows read = kept + dropped`` counts each row once; then
    they are repeated, gaps and lengths change, and the rate comes last, as a load depends on lengths.

    Raises
    ------
    ValueError
        If an option is refused.
    """
    from workloads.shaping import (
        ContextLimit,
        Head,
        Load,
        Only,
        PromptChunks,
        Rate,
        Repeat,
        ShuffleGaps,
        Thin,
    )

    makers: dict[str, Callable[[Any], Shaping]] = {
        "tenant": partial(Only, "tenant"),
        "model": partial(Only, "model"),
        "max_model_len": lambda tokens: ContextLimit(tokens, options.too_long.value),
        "num_prompts": Head,
        "sample": Thin,
        "repeat": Repeat,
        "shuffle_gaps": lambda _: ShuffleGaps(),
        "prefill_chunk": PromptChunks,
        "request_rate": Rate,
        "load": lambda load: Load(load, slots, step_time.base),
    }
    given = {name: getattr(options, name) for name in makers}
    made = [
        _asked(flag(name), partial(makers[name], value))
        for name, value in given.items()
        if value is not None and value is not False
    ]
    return [*_window(options), *made]


def chunks(tokens: int) -> Shaping:
    """What ``--prefill-chunk`` alone does to requests.

    Raises
    ------
    ValueError
        If it is refused.
    """
    from workloads.shaping import PromptChunks

    return _asked("--prefill-chunk", lambda: PromptChunks(tokens))


@dataclass(frozen=True)
class _Asked:
    """A change that an option asks for: what it refuses is told under the name of the option."""

    option: str
    change: Shaping

    @property
    def random(self) -> bool:
        return self.change.random

    def describe(self) -> str:
        return self.change.describe()

    def apply(self, workload: Workload, rng: np.random.Generator) -> Shaped:
        with named(self.option):
            return self.change.apply(workload, rng)


@contextmanager
def offering_to_drop() -> Iterator[None]:
    """Say at the refusal of a row how to go on without it.

    Raises
    ------
    ValueError
        If a row is refused inside.
    """
    from workloads.tables.intake import BadRowError

    try:
        yield
    except BadRowError as error:
        raise ValueError(f"{error}; --on-bad-row drop leaves such rows out and counts them") from None


def rows_line(report: ReadReport, steps: Sequence[Step]) -> str:
    """Rows read = kept + dropped by reason, those that shaping left out among them."""
    dropped = _dropped(report, steps)
    kept = report.rows_read - sum(dropped.values())
    reasons = [f"{count:,} dropped ({reason})" for reason, count in dropped.items()]
    whole = " + ".join([f"{kept:,} kept", *reasons])
    return f"{report.path.name} ({report.format}): {how_many(report.rows_read, 'row')} = {whole}"


def step_lines(replications: Sequence[Sequence[Step]]) -> list[str]:
    """One line for each step of the first replication: what it did, and to how many requests."""
    alike = len({tuple(step.after for step in steps) for steps in replications}) == 1
    note = [] if alike else ["counts are those of the first replication, chance gives others more or less"]
    return [*map(_line, replications[0]), *note]


def input_record(report: ReadReport, steps: Sequence[Step]) -> dict[str, Any]:
    """What became of the rows of a file, as ``summary.json`` keeps it."""
    dropped = _dropped(report, steps)
    return {
        "file": str(report.path),
        "format": report.format,
        "rows_read": report.rows_read,
        "kept": report.rows_read - sum(dropped.values()),
        "dropped": dropped,
        "out_of_order": report.out_of_order,
        "notes": list(report.notes),
        "shaping": [asdict(step) for step in steps],
    }


def window_span(options: FileOptions, steps: Sequence[Step]) -> float | None:
    """Time units from 0 on in which the requests of a window came, the silence at its ends included.

    None where nobody knows: without a window, or where the log ends in it; and where its end was cut off or
    moved, by a number of requests, a repetition or a pace that is counted from the first to the last of them.
    """
    from workloads.shaping.window import BEHIND

    moved = (options.num_prompts, options.repeat, options.request_rate, options.load)
    if options.window_for is None or any(each is not None for each in moved):
        return None
    return _bounds(options)[1] if BEHIND in steps[0].dropped else None


def _window(options: FileOptions) -> list[Shaping]:
    from workloads.shaping import Window

    if options.window_from is None and options.window_for is None:
        return []
    start, duration = _bounds(options)
    return [_asked("--from, --for", lambda: Window(start or 0.0, duration))]


def _bounds(options: FileOptions) -> tuple[float | None, float | None]:
    """Start and duration of the window in time units, as far as they are given."""
    given = {"--from": options.window_from, "--for": options.window_for}
    check_alike(given)
    start, duration = (
        None if text is None else parse_duration(name, text, options.time_unit)
        for name, text in given.items()
    )
    return start, duration


def _asked(option: str, make: Callable[[], Shaping]) -> Shaping:
    with named(option):
        return _Asked(option, make())


def _dropped(report: ReadReport, steps: Sequence[Step]) -> dict[str, int]:
    together = Counter(report.dropped)
    for step in steps:
        together.update(step.dropped)
    return dict(together)


def _line(step: Step) -> str:
    changed = f"{step.before:,} to {how_many(step.after, 'request')}" if step.before != step.after else ""
    result = ", ".join(filter(None, [changed, step.note]))
    return f"{step.name}: {result}" if result else step.name
