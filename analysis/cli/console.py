"""What the command says: results on standard output, everything else on standard error."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from analysis.json_text import to_json
from analysis.text import visible

if TYPE_CHECKING:
    from analysis.tables import Table

_PATIENCE = 1.0
"""Seconds after which a progress bar appears."""

_UNLIMITED = 100_000
"""Characters of a line that no table fills."""

_LONGEST = 1000
"""Characters of an error; the middle of a longer one is left out, as rule and place stand at its ends."""


def show(table: Table) -> None:
    """Print a table: ruled on a terminal that is wide enough for its numbers, else in aligned columns."""
    if not (sys.stdout.isatty() and _show_ruled(table)):
        sys.stdout.write(aligned(table) + "\n")


def show_json(content: Mapping[str, object]) -> None:
    """Print what programs read."""
    sys.stdout.write(to_json(content))


def aligned(table: Table) -> str:
    """The table as plain text, numbers under each other."""
    rows = _visible(table.header, *table.rows)
    widths = [max(len(row[column]) for row in rows) for column in range(len(table.header))]
    pad = str.rjust if table.numbers else str.ljust
    lines = ["  ".join([row[0].ljust(widths[0]), *map(pad, row[1:], widths[1:])]).rstrip() for row in rows]
    return "\n".join([visible(table.title), *lines, *map(visible, table.notes), ""])


def say(text: str, *, quiet: bool) -> None:
    """Tell the user what happens, unless they asked for silence."""
    if not quiet:
        sys.stderr.write("\n".join(map(visible, text.split("\n"))) + "\n")


def say_all(texts: Iterable[str], *, quiet: bool) -> None:
    """`say` each text."""
    for text in texts:
        say(text, quiet=quiet)


def complain(message: str) -> None:
    """Report an error in one line."""
    one_line = visible(" ".join(message.split()))
    if len(one_line) > _LONGEST:
        half = _LONGEST // 2
        one_line = f"{one_line[:half]} ... {one_line[-half:]}"
    with contextlib.suppress(OSError):  # there may be nobody to hear it
        sys.stderr.write(f"serving-sim: error: {one_line}\n")


@contextlib.contextmanager
def progress(tasks: int | None, *, quiet: bool) -> Iterator[Callable[[str], None]]:
    """Bar over ``tasks`` tasks, None where nobody knows how many, on a terminal and only after a second.

    Yields
    ------
    callable
        To be called with a description whenever the next task begins.
    """
    if quiet or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    task = bar.add_task("", total=tasks, completed=-1, rate="")

    def begin(description: str) -> None:
        bar.update(task, advance=1, description=description)
        speed = bar.tasks[task].speed
        bar.update(task, rate="" if speed is None else f"{speed:.3g}/s")

    timer = threading.Timer(_PATIENCE, bar.start)
    timer.daemon = True
    timer.start()
    try:
        yield begin
    finally:
        timer.cancel()
        timer.join()  # it may be starting the bar right now
        bar.stop()


def _show_ruled(table: Table) -> bool:
    """Print a table with rules, unless it would have to break its numbers; whether it did."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.measure import Measurement
    from rich.table import Table as RuledTable
    from rich.text import Text

    header, *rows = _visible(table.header, *table.rows)
    ruled = RuledTable(
        title=Text(visible(table.title)), title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0)
    )
    for place, name in enumerate(header):
        justify: Literal["left", "right"] = "right" if place and table.numbers else "left"
        ruled.add_column(Text(name), justify=justify, no_wrap=place == 0, overflow="fold")
    for row in rows:
        ruled.add_row(*map(Text, row))
    console = Console()
    unbroken = Measurement.get(console, console.options.update_width(_UNLIMITED), ruled).maximum
    if table.numbers and unbroken > console.width:
        return False
    console.print(ruled)
    for note in table.notes:
        console.print(visible(note), markup=False, highlight=False)
    return True


def _visible(*rows: Sequence[str]) -> list[list[str]]:
    """Names come from files: a terminal shows what they hold and obeys none of it."""
    return [list(map(visible, row)) for row in rows]
