"""One cell of a study: a policy on one replication of a workload."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from functools import cache, cached_property

from analysis.stability import WorkRates
from analysis.statistic import PERCENTILES
from analysis.study.source import Scalar, Source
from analysis.user_code import classes_of, code_digests
from analysis.version import project_version
from policies import parse_policy
from serving_sim import Policy, Run, StepTime, Workload, simulate
from serving_sim.compiled.choice import Engine
from workloads import replication_seed

_REVISION = 4
"""To be raised when a cell gives another row for the same definition: what was kept is then stale."""


@dataclass(frozen=True)
class Settings:
    """What all cells of a study share.

    Attributes
    ----------
    seed : int
        Where all randomness comes from.
    percentiles : tuple of float
        Percentiles of every metric.
    warmup : int
        First requests that the metrics leave out.
    goodput : mapping of str to float or None
        Largest allowed value of each metric, for goodput.
    """

    seed: int = 0
    percentiles: tuple[float, ...] = PERCENTILES
    warmup: int = 0
    goodput: Mapping[str, float] | None = None


@dataclass(frozen=True)
class Cell:
    """Everything that one simulation of a study depends on.

    Attributes
    ----------
    source : Source
        What arrives.
    slots : int
        Largest batch.
    step_time : StepTime
        Duration of a step.
    policy : str
        As the study names it.
    alpha : int or None
        Fairness budget in tokens; None where the policy has none.
    replication : int
        From 1.
    settings : Settings
        What all cells share.
    """

    source: Source
    slots: int
    step_time: StepTime
    policy: str
    alpha: int | None
    replication: int
    settings: Settings

    def __getstate__(self) -> dict[str, object]:
        """What is pickled: a digest that came along would hide another version from `attempt`."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def coordinates(self) -> dict[str, Scalar]:
        """Where in the grid the cell lies; no two cells of a study have the same."""
        return {
            **self.source.coordinates,
            "slots": self.slots,
            "step_time": _text(self.step_time),
            "policy": self.policy,
            "alpha": self.alpha,
            "replication": self.replication,
        }

    @cached_property
    def key(self) -> str:
        """The coordinates as text."""
        return json.dumps(self.coordinates, sort_keys=True, ensure_ascii=False)

    @cached_property
    def digest(self) -> str:
        """Digest of all that the row depends on, the same in any process of this version."""
        everything = [
            _REVISION,
            project_version(),
            self.coordinates,
            self.source.definition,
            asdict(self.settings),
            _code_of_policy(self.policy, self.alpha),
        ]
        return hashlib.sha256(json.dumps(everything, sort_keys=True).encode()).hexdigest()

    def __str__(self) -> str:
        """The coordinates in one line."""
        return ", ".join(f"{name}={value}" for name, value in self.coordinates.items() if value is not None)

    def workload(self) -> Workload:
        """What arrives, the same for every policy and alpha.

        The seed is that of ``serving-sim run`` for the same replication. It knows the replication
        alone: policies meet the same arrivals, loads the same lengths in other rhythm (common random
        numbers), and no cell depends on which others there are.
        """
        seed = replication_seed(self.settings.seed, self.replication)
        return self.source.workload(seed, slots=self.slots, step_time=self.step_time)

    def rates(self) -> WorkRates:
        """What is known of the arriving work."""
        return self.source.rates(slots=self.slots, step_time=self.step_time)

    def serve(self, workload: Workload, engine: Engine = "auto") -> Run:
        """Simulate the policy of the cell on a workload."""
        return simulate(
            workload,
            build_policy(self.policy, self.alpha),
            slots=self.slots,
            step_time=self.step_time,
            alpha=self.alpha,
            engine=engine,
        )


@cache  # once for all replications
def _code_of_policy(text: str, alpha: int | None) -> list[str]:
    return code_digests(classes_of(build_policy(text, alpha)))


def build_policy(text: str, alpha: int | None) -> Policy:
    """The policy that a text names, with a budget for those that take one."""
    return parse_policy(text, defaults={} if alpha is None else {"alpha": alpha})


def _text(step_time: StepTime) -> str:
    """A step time as the command line writes it."""
    coefficients = {field.name: getattr(step_time, field.name) for field in fields(step_time)}
    return ",".join(f"{name}={value!r}" for name, value in coefficients.items() if value)
