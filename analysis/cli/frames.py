"""An epoch of a run as lines of text, for paper and for a screen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, islice
from textwrap import wrap

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from analysis.marks import marks, progress_bar, unit_for
from analysis.text import ABSENT, shown_id, visible
from analysis.watch import Active, Frame, Waiting
from serving_sim.how_many import how_many

_MARKS = 40
"""Most marks of a bar; longer requests count several tokens a mark."""

_NAME = 16
"""Cells of a longest name."""

_LISTED = 10
"""Most requests of a list where there is no screen to fill."""

_FEWEST = 3
"""Rows that slots and queue have on a screen however low."""

_KEPT = 5
"""Rows of a screen that many slots leave to those who enter and wait."""

_DONE, _ENTERS, _BROKEN, _QUIET = "cyan", "bold", "bold red", "dim"


def draw(frame: Frame, *, width: int | None = None, height: int | None = None) -> list[Text]:
    """The epoch as lines; what names and reasons hold of control characters shows as text.

    Parameters
    ----------
    frame : Frame
        What there is to see.
    width, height : int, optional
        Cells and lines of the screen that has to hold it; paper has room for whole sentences.
    """
    head = [_title(frame), *_events(frame), Text()]
    unit = _unit(frame, width)
    gauges = [*_gauges(frame, unit), Text()]
    rule = [Text(line, _ENTERS) for line in wrap(visible(frame.rule), width or 110)]
    room = None if height is None else height - len(head) - len(gauges) - len(rule) - 1
    in_slots, in_list = _share(room, frame)
    lines = [
        *head,
        *gauges,
        *_slots(frame.slots, unit, in_slots),
        Text(),
        *rule,
        *_requests(frame, in_list),
    ]
    if width is not None:
        for line in lines:
            _cut(line, width)
    return lines[:height]


def _title(frame: Frame) -> Text:
    title = f"epoch {frame.epoch:,} of {frame.epochs:,}   time {_time(frame.time)}   step {frame.step:,}"
    return Text(title, _ENTERS)


def _events(frame: Frame) -> Iterable[Text]:
    for word, names in (("finished", frame.finished), ("released", frame.released)):
        yield Text(f"{word}  {_listed(names)}", "" if names else _QUIET)


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(map(_name, names[:_LISTED])) or ABSENT
    return shown if len(names) <= _LISTED else f"{shown} and {len(names) - _LISTED:,} more"


def _unit(frame: Frame, width: int | None) -> int:
    """Tokens a mark: the longest request in the batch, and alpha, have to fit."""
    lengths = [active.length for active in frame.slots if active is not None]
    most = max([frame.alpha or 0, frame.gap, frame.max_progress, *lengths])
    return unit_for(most, _MARKS if width is None else max(1, min(_MARKS, width // 3)))


def _gauges(frame: Frame, unit: int) -> Iterable[Text]:
    """A_max and the gap, each against alpha."""
    alpha = frame.alpha
    gauges = {"A_max": frame.max_progress, "gap": frame.gap}
    bars = {word: _against(tokens, alpha, unit) for word, tokens in gauges.items()}
    reach = max(map(len, bars.values()))
    for word, tokens in gauges.items():
        line = Text(f"{word:<8}  ").append_text(bars[word]).append(" " * (reach - len(bars[word])))
        line.append(f"  {tokens:,}" if alpha is None else f"  {tokens:,} of alpha = {alpha:,}")
        if word == "gap" and frame.violates:
            line.append("  constraint (1) is broken", _BROKEN)
        yield line
    if unit > 1:
        yield Text(f"a mark is {_tokens(unit)}, begun ones count", _QUIET)


def _against(tokens: int, alpha: int | None, unit: int) -> Text:
    """``#`` for tokens up to alpha, ``.`` for those left to it, ``!`` for those beyond."""
    within = tokens if alpha is None else min(tokens, alpha)
    made = marks(within, unit)
    bar = Text().append("#" * made, _DONE)
    if alpha is not None:
        bar.append("." * (marks(alpha, unit) - made), _QUIET)
    return bar.append("!" * marks(tokens - within, unit), _BROKEN)


def _share(room: int | None, frame: Frame) -> tuple[int, int]:
    """Rows for the slots and for the list below them."""
    slots = len(frame.slots)
    if room is None:
        return slots, _LISTED
    busy = [active for active in frame.slots if active is not None]
    listed = len(frame.waiting) + sum(active.enters for active in busy)
    most = max(_FEWEST, room - min(listed, _KEPT))
    in_slots = slots if slots <= most else min(most, len(busy) + 1)
    return in_slots, max(_FEWEST, room - in_slots)


def _slots(slots: Sequence[Active | None], unit: int, rows: int) -> Iterable[Text]:
    """A row a slot; those that are free give way where there are too few rows."""
    numbered = list(enumerate(slots))
    if len(slots) > rows:
        numbered = [each for each in numbered if each[1] is not None][: rows - 1]
    digits = len(str(len(slots) - 1))
    name = max((cell_len(_name(active.request)) for _, active in numbered if active is not None), default=0)
    reach = max((marks(active.length, unit) for _, active in numbered if active is not None), default=0)
    for slot, active in numbered:
        yield _row(f"slot {slot:>{digits}}", active, unit, name, reach)
    if len(numbered) < len(slots):
        free = slots.count(None)
        busy = len(slots) - free - len(numbered)
        parts = [f"{count:,} {word}" for count, word in ((busy, "more busy"), (free, "free")) if count]
        yield Text(f"  and {', '.join(parts)}", _QUIET)


def _row(slot: str, active: Active | None, unit: int, name: int, reach: int) -> Text:
    if active is None:
        return Text(f"  {slot}  free", _QUIET)
    line = Text(f"{'>' if active.enters else ' '} {slot}  ", _ENTERS if active.enters else "")
    line.append(set_cell_size(_name(active.request), name) + "  ")
    drawn = progress_bar(active.progress, active.length, unit)
    line.append(drawn.rstrip("."), _DONE)
    line.append("." * (len(drawn) - len(drawn.rstrip("."))) + " " * (reach - len(drawn)))
    return line.append(f"  {active.progress:,} of {active.length:,}")


def _requests(frame: Frame, rows: int) -> Iterable[Text]:
    """Who enters and who waits, those first of whom the policy says something."""
    reasons = dict(frame.reasons)
    entering = [each for each in frame.slots if each is not None and each.enters]
    count = len(entering) + len(frame.waiting)
    shown = count if count <= rows else rows - 1
    listed: Iterable[Active | Waiting] = chain(entering, frame.waiting.first(reasons))
    for each in islice(listed, shown):
        why = f": {visible(reasons[each.request])}" if each.request in reasons else ""
        yield Text(f"  {_entering(each) if isinstance(each, Active) else _waiting(each)}{why}")
    if shown < count:
        yield Text(f"  and {count - shown:,} more", _QUIET)


def _entering(active: Active) -> str:
    return f"enters  {_name(active.request)} ({_tokens(active.length)})"


def _waiting(each: Waiting) -> str:
    return f"waits   {_name(each.request)} ({_seen(each.length, each.size)}) since {_time(each.since)}"


def _seen(length: int, size: int) -> str:
    return _tokens(length) if length == size else f"{_tokens(length)}, predicted {size:,}"


def _tokens(count: int) -> str:
    return how_many(count, "token")


def _time(instant: float) -> str:
    return f"{instant:,.3f}".rstrip("0").rstrip(".")


def _name(request: str) -> str:
    shown = shown_id(request)
    return shown if cell_len(shown) <= _NAME else set_cell_size(shown, _NAME - 2) + ".."


def _cut(line: Text, width: int) -> None:
    if line.cell_len > width:
        line.truncate(max(0, width - 2))
        line.append(".."[:width])
