"""A binary heap of (key, value) pairs in two arrays whose length the caller keeps."""

from __future__ import annotations

from serving_sim.compiled.jit import Words, inner


@inner
def heap_push(keys: Words, values: Words, count: int, key: int, value: int) -> None:
    """Add a pair to a heap of ``count`` pairs; there must be room for it."""
    at = count
    while at > 0:
        parent = (at - 1) >> 1
        if keys[parent] <= key:
            break
        keys[at] = keys[parent]
        values[at] = values[parent]
        at = parent
    keys[at] = key
    values[at] = value


@inner
def heap_pop(keys: Words, values: Words, count: int) -> None:
    """Drop the pair with the smallest key, which stands first; among equal keys any may be first."""
    last = count - 1
    key, value = keys[last], values[last]
    at = 0
    while True:
        child = 2 * at + 1
        if child >= last:
            break
        if child + 1 < last and keys[child + 1] < keys[child]:
            child += 1
        if key <= keys[child]:
            break
        keys[at] = keys[child]
        values[at] = values[child]
        at = child
    keys[at] = key
    values[at] = value
