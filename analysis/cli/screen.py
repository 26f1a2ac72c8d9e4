"""A recorded run on the screen of a terminal, stepped through with keys."""

from __future__ import annotations

import os
import sys
from bisect import bisect_right

from rich.console import Console, ConsoleDimensions, Group
from rich.live import Live
from rich.text import Text

from analysis.cli.frames import draw
from analysis.cli.keys import HAS_KEYS, pressed_keys
from analysis.text import visible
from analysis.watch import Recording

_LOOK = 0.2
"""Seconds between two looks at the size of the terminal."""


def has_screen() -> bool:
    """Whether there is a terminal on both sides that can be drawn on and asked for keys."""
    if sys.stdin is None:  # the caller closed it
        return False
    return HAS_KEYS and sys.stdin.isatty() and sys.stdout.isatty() and not Console().is_dumb_terminal


def step_through(recording: Recording, headline: str) -> None:
    """Show the epochs one by one, as keys ask for them, until ``q``.

    The terminal is as it was afterwards, whatever ends this.
    """
    console = Console()
    with pressed_keys() as keys, Live(console=console, screen=True, auto_refresh=False) as live:
        place, key, shown = 0, None, None
        while key != "quit":
            console.size = _size()
            wanted = (place, console.size)
            if wanted != shown:
                live.update(_page(recording, place, console, headline), refresh=True)
                shown = wanted
            key = keys.next(_LOOK)
            place = _moved(recording, place, key)


def _size() -> ConsoleDimensions:
    """The terminal's size now; one that does not know its own counts as a classic one."""
    columns, lines = os.get_terminal_size(sys.stdout.fileno())
    return ConsoleDimensions(columns or 80, lines or 24)


def _moved(recording: Recording, place: int, key: str | None) -> int:
    last = len(recording) - 1
    match key:
        case "right":
            return min(place + 1, last)
        case "left":
            return max(place - 1, 0)
        case "home":
            return 0
        case "end":
            return last
        case "violation":
            after = bisect_right(recording.violations, place)
            return recording.violations[after] if after < len(recording.violations) else place
    return place


def _page(recording: Recording, place: int, console: Console, headline: str) -> Group:
    width, height = console.size
    lines = draw(recording.frame(place), width=width, height=max(1, height - 2))
    blank = [Text()] * (height - 2 - len(lines))
    judged = recording.run.audit.alpha is not None
    violations = f"  v: next of {len(recording.violations):,} violations" if judged else ""
    ends = [
        Text(visible(headline), "reverse"),
        Text(f"space, right: on  left: back  home, end{violations}  q: quit", "dim"),
    ]
    for line in ends:
        line.truncate(width)
    for line in lines:
        line.no_wrap = True
    return Group(ends[0], *lines, *blank, ends[1])
