"""How sure each of several intervals must be, so that all of them hold at once."""

from __future__ import annotations


def confidence_of_each(count: int, all_at_once: float = 0.95) -> float:
    """Nominal coverage of each of ``count`` intervals, of which none may miss (Bonferroni).

    Parameters
    ----------
    count : int
        Intervals that were looked at before one was chosen, those of other choices included; with none
        it is as with one.
    all_at_once : float
        Probability at which all hold, whatever they have to do with each other.
    """
    return 1 - (1 - all_at_once) / max(1, count)
