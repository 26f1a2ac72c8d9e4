"""Workloads worth a name, with the slots and the fairness limit they are meant for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from serving_sim import Workload
from serving_sim.arguments import unknown
from workloads.arrivals import Arrivals, parse_arrivals, rate_for_load
from workloads.generate import make_workload
from workloads.lengths import parse_lengths


@dataclass(frozen=True)
class Preset:
    """A random workload up to its seed, and the system it is meant for.

    Attributes
    ----------
    name, summary : str
        What to call it; what it shows, in a line.
    n : int
        Requests.
    lengths, arrivals : str
        Distribution and process, as `parse_lengths` and `parse_arrivals` read them.
    slots : int
        Requests served at once.
    alpha : int
        Limit of the progress gap in tokens.
    load : float or None
        Fraction of the slots kept busy when steps take one time unit; None where all requests are
        there from the start.
    """

    name: str
    summary: str
    n: int
    lengths: str
    arrivals: str
    slots: int
    alpha: int
    load: float | None = None

    @property
    def rate(self) -> float | None:
        """Requests per time unit, None where all requests are there from the start."""
        if self.load is None:
            return None
        mean = parse_lengths(self.lengths).mean
        return rate_for_load(self.load, slots=self.slots, mean_length=mean)

    def process(self) -> Arrivals:
        """The arrival process at the preset's rate."""
        return parse_arrivals(self.arrivals, rate=self.rate)

    def workload(self, seed: int | np.random.SeedSequence) -> Workload:
        """The requests that a seed stands for."""
        return make_workload(self.n, parse_lengths(self.lengths), self.process(), seed)


def _backlog_of(name: str, summary: str, tokens: str, alpha: int) -> Preset:
    return Preset(
        name,
        summary,
        n=tokens.count("+") + 1,
        lengths=f"listed:tokens={tokens}",
        arrivals="backlog",
        slots=3,
        alpha=alpha,
    )


# The ways in which phase ONE of algorithm 3 breaks constraint (1) as it is printed, each on its
# smallest instance: fewest requests, then least alpha, then fewest tokens, among all of up to six
# requests of up to nine tokens on three slots.
_PRINTED_FLAWS = (
    _backlog_of(
        "printed-flaw-1",
        "isjl as printed: a long without a pack starts too long before another",
        "3+3+2+2",
        alpha=1,
    ),
    _backlog_of(
        "printed-flaw-2",
        "isjl as printed: long 1 waits for one pack and not for a larger one",
        "5+3+3+3+2+2",
        alpha=2,
    ),
    _backlog_of(
        "printed-flaw-3",
        "isjl as printed: requests of two packs run too far apart",
        "6+4+4+4+3+1",
        alpha=2,
    ),
)

# The demo tells what fairness costs. At load 1 its 8 slots are used to 0.78 by ljf (which lets all
# finish before it starts anew), 0.85 by isjl at alpha 200, and to nearly 1 by fcfs and sjf. At load
# 0.6 all keep up, so latencies settle, and so many requests hold enough bursts for intervals of means,
# medians and P90. The bursts are large enough for the order of service to matter: sjf has the best mean
# and a longer tail than fcfs, and isjl keeps a quarter of the gap of fcfs at less than half the price of ljf.
_ALL = (
    Preset(
        name="demo",
        summary="bursts of 32 chats on 8 slots: who keeps up, who waits, and at what gap",
        n=200_000,
        lengths="lmsys-like",
        arrivals="batch:size=32",
        slots=8,
        alpha=200,
        load=0.6,
    ),
    Preset(
        name="backlog",
        summary="2,000 chats waiting from the start, the offline problem of the paper",
        n=2_000,
        lengths="lmsys-like",
        arrivals="backlog",
        slots=16,
        alpha=100,
    ),
    Preset(
        name="steady",
        summary="Poisson arrivals of memoryless lengths on 32 slots, where queueing theory applies",
        n=20_000,
        lengths="geometric:mean=128",
        arrivals="poisson",
        slots=32,
        alpha=100,
        load=0.8,
    ),
    *_PRINTED_FLAWS,
)

PRESETS = {preset.name: preset for preset in _ALL}
"""All presets by name."""


def get_preset(name: str) -> Preset:
    """The preset of that name.

    Raises
    ------
    ValueError
        If there is none.
    """
    if name not in PRESETS:
        raise ValueError(unknown("preset", name, PRESETS))
    return PRESETS[name]
