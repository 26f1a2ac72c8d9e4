"""The systems that are simulated, and what a run of one tells."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from analysis.experiments.validation.settings import Settings
from policies import parse_policy
from serving_sim import Run, simulate
from workloads import Lengths, make_workload, parse_arrivals, parse_lengths, rate_for_load


@dataclass(frozen=True)
class System:
    """Requests and a worker in slotted time, steps of one time unit.

    Attributes
    ----------
    slots : int
        B.
    lengths : str
        Distribution, as `parse_lengths` reads it.
    load : float
        Share of the slots in use.
    policy : str
        As `parse_policy` reads it.
    arrivals : str
        Process without its rate, as `parse_arrivals` reads it.
    """

    slots: int
    lengths: str
    load: float
    policy: str = "fcfs"
    arrivals: str = "poisson"

    @property
    def distribution(self) -> Lengths:
        """Of the lengths."""
        return parse_lengths(self.lengths)

    @property
    def rate(self) -> float:
        """Requests per step."""
        return rate_for_load(self.load, slots=self.slots, mean_length=self.distribution.mean)

    @property
    def name(self) -> str:
        """What tables call it."""
        others = [
            text for text, usual in ((self.policy, "fcfs"), (self.arrivals, "poisson")) if text != usual
        ]
        return ", ".join([f"B {self.slots}", self.lengths, f"load {self.load:g}", *others])

    def run(self, requests: int, seed: np.random.SeedSequence) -> Run:
        """Serve that many requests."""
        arrivals = parse_arrivals(self.arrivals, rate=self.rate)
        workload = make_workload(requests, self.distribution, arrivals, seed)
        return simulate(workload, parse_policy(self.policy), slots=self.slots, slotted=True)

    def replicate(self, settings: Settings) -> Iterator[Run]:
        """Independent runs, independent of those of any other system too."""
        for seed in self.seeds(settings.seed).spawn(settings.replications):
            yield self.run(settings.requests, seed)

    def seeds(self, seed: int) -> np.random.SeedSequence:
        """The randomness of this system alone; other systems leave it as it is."""
        return np.random.SeedSequence(seed, spawn_key=(zlib.crc32(self.name.encode()),))
