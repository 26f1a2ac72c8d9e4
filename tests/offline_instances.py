"""Offline instances for tests: random ones, and those known from theory."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st


@dataclass(frozen=True)
class Offline:
    """Lengths, slots, fairness budget and releases; all whole."""

    lengths: tuple[int, ...]
    slots: int
    alpha: int | None
    releases: tuple[int, ...] | None = None


@st.composite
def offline(
    draw: st.DrawFn, most: int = 5, longest: int = 6, latest: int = 6, *, released: bool | None = None
) -> Offline:
    lengths = tuple(draw(st.lists(st.integers(1, longest), min_size=1, max_size=most)))
    late = draw(st.booleans()) if released is None else released
    times = st.lists(st.integers(0, latest), min_size=len(lengths), max_size=len(lengths))
    return Offline(
        lengths,
        slots=draw(st.integers(1, 4)),
        alpha=draw(st.none() | st.integers(0, longest)),
        releases=tuple(draw(times)) if late else None,
    )


def jigsaw(slots: int) -> tuple[int, ...]:
    """Two of each length from 2 slots - 1 down to slots + 1, three of length slots."""
    return (*(length for length in range(2 * slots - 1, slots, -1) for _ in range(2)), *(slots,) * 3)


def static_waste(slots: int, unit: int) -> tuple[int, ...]:
    """One request that runs alongside ``slots - 1`` others in each of ``slots`` rounds."""
    return (slots * unit, *(unit,) * (slots * (slots - 1)))


KNOWN_OPTIMA: list[tuple[str, Offline, int]] = [
    ("7, 7 and 10 start late", Offline((10, 7, 7, 5, 1), 2, 4), 15),
    ("beta = alpha is no safe choice", Offline((23, 18, 17, 14, 2), 2, 11), 38),
    ("nothing fits alongside", Offline((9, 9, 9), 2, 4), 18),
    ("alone on one slot", Offline((3, 1, 2), 1, 0, (0, 5, 0)), 6),
    *((f"jigsaw on {slots}", Offline(jigsaw(slots), slots, 2 * slots - 1), 3 * slots) for slots in (2, 3, 4)),
    *(
        (f"static waste on {slots}", Offline(static_waste(slots, 3), slots, 3 * slots - 3), 3 * slots)
        for slots in (2, 3, 4, 5)
    ),
]
