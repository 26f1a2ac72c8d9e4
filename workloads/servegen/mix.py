"""Requests of many clients, each at its own pace and with its own lengths."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from serving_sim import Workload
from serving_sim.arguments import is_finite
from serving_sim.columns import FloatArray, IntArray
from workloads.generate import child, client_seed
from workloads.parameters import check_positive
from workloads.servegen.clients import ServeGenClient, Window

_GAPS: Mapping[str, Callable[[np.random.Generator, float, int], FloatArray]] = {
    "Gamma": lambda rng, shape, n: rng.gamma(shape, size=n),
    "Weibull": lambda rng, shape, n: rng.weibull(shape, size=n),
}

Sent = tuple[FloatArray, IntArray, IntArray]
"""Times in seconds, prompts and outputs of some requests, in order of time."""


def client_workload(
    clients: Sequence[ServeGenClient],
    *,
    begin: float,
    duration: float,
    time_unit: float,
    seed: int | np.random.SeedSequence,
) -> Workload:
    """What the clients send in a stretch of time; the same arguments give the same bytes.

    A window of length W with rate r sends r W requests, rounded up or down at random so that the mean
    is right, after gaps of the window's distribution that are scaled to fill it. The files state scales
    as well, but fitted ones, which miss the stated rate by far where tails are heavy. Each client has
    random numbers of its own, so that it sends the same whoever else does.

    Parameters
    ----------
    clients : sequence of ServeGenClient
        The clients; their numbers become tenants.
    begin, duration : float
        The stretch, in seconds of the clients' clock.
    time_unit : float
        Seconds in a time unit.
    seed : int or SeedSequence
        Where all randomness comes from.

    Returns
    -------
    Workload
        Sorted by release, with time 0 at ``begin``; lengths are prompt and output together.

    Raises
    ------
    ValueError
        If a parameter is out of range, or no request comes.
    """
    for name, value in (("duration", duration), ("time_unit", time_unit)):
        check_positive(name, value, "seconds")
    if not (is_finite(begin) and begin >= 0):
        raise ValueError(f"begin={begin!r}: must be a finite number of seconds >= 0")
    sent = [_sent(client, seed, begin, begin + duration) for client in clients]
    seconds, prompt, output = (np.concatenate(column) for column in zip(*sent, strict=True))
    if not len(seconds):
        raise ValueError(f"begin={begin!r}, duration={duration!r}: no client sends a request then")
    tenant = np.repeat([str(client.number) for client in clients], [len(times) for times, _, _ in sent])
    order = np.argsort(seconds, kind="stable")
    return Workload(
        (seconds[order] - begin) / time_unit,
        (prompt + output)[order],
        prompt_tokens=prompt[order],
        output_tokens=output[order],
        tenant=tenant[order],
    )


def _sent(client: ServeGenClient, seed: int | np.random.SeedSequence, begin: float, end: float) -> Sent:
    """What a client sends from ``begin`` to ``end``.

    A window that is cut off is made whole first: its requests do not depend on the stretch asked for.
    """
    own = client_seed(seed, client.number)
    parts = []
    for window in client.windows:
        if window.end <= begin or window.begin >= end:
            continue
        times, prompt, output = _filled(window, np.random.default_rng(child(own, window.begin)))
        inside = (times >= begin) & (times < end)
        parts.append((times[inside], prompt[inside], output[inside]))
    if not parts:
        return np.empty(0), np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    times, prompt, output = (np.concatenate(column) for column in zip(*parts, strict=True))
    return times, prompt, output


def _shares(gaps: FloatArray, rng: np.random.Generator) -> FloatArray:
    """What part of a window each gap is.

    The smaller the shape, the more the largest gap outweighs all others. Where gaps leave the range of
    floats, one at random among the largest is all of the window, the limit as the shape goes to 0.
    """
    total = float(gaps.sum())
    if 0 < total < np.inf:
        return gaps / total
    shares = np.zeros(len(gaps))
    shares[rng.choice(np.flatnonzero(gaps == gaps.max()))] = 1.0
    return shares


def _filled(window: Window, rng: np.random.Generator) -> Sent:
    """The requests of a window."""
    span = window.end - window.begin
    whole, part = divmod(window.rate * span, 1.0)
    n = int(whole) + int(rng.random() < part)
    shares = _shares(_GAPS[window.pattern](rng, window.shape, n + 1), rng)  # the last one ends with it
    times = window.begin + span * np.minimum(np.cumsum(shares[:n]), 1.0)
    return times, window.prompt.sample(n, rng), window.output.sample(n, rng)
