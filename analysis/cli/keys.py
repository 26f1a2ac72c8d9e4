"""Keys as they are pressed, from a terminal that is put back as it was."""

from __future__ import annotations

import contextlib
import os
import re
import select
import sys
from collections import deque
from collections.abc import Iterator

try:
    import termios
    import tty
except ImportError:  # Windows has neither
    HAS_KEYS = False
else:
    HAS_KEYS = True

_ESCAPED = re.compile(rb"\x1b(?:\[[0-9;]*[A-Za-z~]|O[A-Za-z]|.)", re.DOTALL)  # the last is Alt and a key
_BEGUN = re.compile(rb"\x1b(?:\[[0-9;]*|O)?\Z")
_PATIENCE = 0.05
"""Seconds after which an escape that nothing follows was the key itself."""

_NAMES = {
    b"\x1b[C": "right", b"\x1bOC": "right", b" ": "right", b"\r": "right", b"\n": "right",
    b"\x1b[D": "left", b"\x1bOD": "left", b"\x7f": "left", b"\x08": "left",
    b"\x1b[H": "home", b"\x1bOH": "home", b"\x1b[1~": "home", b"\x1b[7~": "home",
    b"\x1b[F": "end", b"\x1bOF": "end", b"\x1b[4~": "end", b"\x1b[8~": "end",
    b"v": "violation", b"q": "quit",
}  # fmt: skip


class Keys:
    """What is pressed on the terminal ``device``, one key after the other."""

    def __init__(self, device: int) -> None:
        self._device = device
        self._pressed: deque[str] = deque()

    def next(self, seconds: float) -> str | None:
        """The next key with a name, None if none is pressed for so long; ``quit`` if the terminal is gone."""
        if not self._pressed and self._wait(seconds):
            self._read()
        return self._pressed.popleft() if self._pressed else None

    def _read(self) -> None:
        read = os.read(self._device, 1024)
        if not read:
            self._pressed.append("quit")
        while _BEGUN.search(read) and self._wait(_PATIENCE):  # the rest of an arrow is on its way
            rest = os.read(self._device, 1024)
            if not rest:
                self._pressed.append("quit")
                break
            read += rest
        while read:
            found = _ESCAPED.match(read)
            key = found.group() if found else read[:1]
            read = read[len(key) :]
            if key in _NAMES:
                self._pressed.append(_NAMES[key])

    def _wait(self, seconds: float) -> bool:
        return bool(select.select([self._device], [], [], seconds)[0])


@contextlib.contextmanager
def pressed_keys() -> Iterator[Keys]:
    """Keys of the terminal at standard input, unechoed and without waiting for the end of a line.

    Ctrl-C still interrupts. The keys that suspend or quit a process do nothing, as they would leave the
    terminal to others in this state.
    """
    device = sys.stdin.fileno()
    before = termios.tcgetattr(device)
    try:
        tty.setcbreak(device, termios.TCSANOW)  # what was typed early counts
        changed = termios.tcgetattr(device)
        changed[6][termios.VSUSP] = changed[6][termios.VQUIT] = b"\0"
        termios.tcsetattr(device, termios.TCSANOW, changed)
        yield Keys(device)
    finally:
        termios.tcsetattr(device, termios.TCSANOW, before)
