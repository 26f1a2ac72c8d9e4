"""Occupied slots in the order of admission, which is the order of progress."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from serving_sim.compiled.jit import Words, inner


class Ages(NamedTuple):
    """A ring of slots, linked both ways; a slot leaves in O(1) wherever it stands.

    The entry after the last slot is the ring's fixed point: ``newer`` of it is the oldest slot and
    ``older`` of it the newest one.

    Attributes
    ----------
    since : ndarray of int64, shape (slots,)
        Step at which a slot was taken.
    older, newer : ndarray of int64, shape (slots + 1,)
        Neighbours in the ring.
    """

    since: Words
    older: Words
    newer: Words


def make_ages(slots: int) -> Ages:
    """No slot is taken."""
    ring = slots
    return Ages(
        since=np.zeros(slots, np.int64),
        older=np.full(slots + 1, ring, np.int64),
        newer=np.full(slots + 1, ring, np.int64),
    )


@inner
def add_newest(ages: Ages, slot: int, step: int) -> None:
    """A slot is taken at ``step``, no earlier than any other in the ring."""
    ring = len(ages.since)
    newest = ages.older[ring]
    ages.since[slot] = step
    ages.older[slot] = newest
    ages.newer[slot] = ring
    ages.newer[newest] = slot
    ages.older[ring] = slot


@inner
def drop(ages: Ages, slot: int) -> None:
    """A slot becomes free."""
    older, newer = ages.older[slot], ages.newer[slot]
    ages.newer[older] = newer
    ages.older[newer] = older


@inner
def oldest_slot(ages: Ages) -> int:
    """The slot taken first; the number of slots where none is taken."""
    slot: int = ages.newer[len(ages.since)]
    return slot


@inner
def newest_slot(ages: Ages) -> int:
    """The slot taken last; the number of slots where none is taken."""
    slot: int = ages.older[len(ages.since)]
    return slot
