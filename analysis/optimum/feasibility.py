"""Is a list of start times an alpha-fair schedule? A check that shares no code with engine or solvers."""

from __future__ import annotations

from collections.abc import Sequence


def check_schedule(
    start: Sequence[float],
    lengths: Sequence[int],
    slots: int,
    alpha: int | None = None,
    releases: Sequence[float] | None = None,
) -> int:
    """Makespan of a schedule, after checking that it is one.

    Parameters
    ----------
    start : sequence of int, or of float with whole values
        Step at which each request starts; request i occupies the steps from ``start[i]`` up to, not
        including, ``start[i] + lengths[i]``.
    lengths : sequence of int
        Steps each request needs, in the order of ``start``.
    slots : int
        Requests that may run at the same time.
    alpha : int or None
        Two requests that run together start at most this far apart; None asks for no fairness.
    releases : sequence of float, optional
        Earliest start of each request.

    Returns
    -------
    int
        The last end.

    Raises
    ------
    ValueError
        If the schedule breaks a rule; the message names the requests and the instant.
    """
    if len(start) != len(lengths) or (releases is not None and len(releases) != len(lengths)):
        raise ValueError("schedule: start, lengths and releases must have one value per request")
    _check_starts(start, releases)
    running: list[int] = []
    for i in sorted(range(len(start)), key=lambda i: start[i]):
        running = [j for j in running if start[j] + lengths[j] > start[i]]
        for j in running:
            if alpha is not None and start[i] - start[j] > alpha:
                raise ValueError(
                    f"requests {j} and {i} run together at {start[i]:g} "
                    f"but start {start[i] - start[j]:g} > alpha={alpha} steps apart"
                )
        running.append(i)
        if len(running) > slots:
            names = ", ".join(str(j) for j in sorted(running))
            raise ValueError(f"requests {names} run together at {start[i]:g}, more than slots={slots}")
    return int(max(begin + length for begin, length in zip(start, lengths, strict=True)))


def _check_starts(start: Sequence[float], releases: Sequence[float] | None) -> None:
    for i, begin in enumerate(start):
        earliest = 0 if releases is None else releases[i]
        if begin != int(begin):
            raise ValueError(f"request {i} starts at {begin!r}, not at a whole step")
        if begin < earliest:
            raise ValueError(f"request {i} starts at {begin:g} before its release {earliest:g}")
