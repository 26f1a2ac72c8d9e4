"""Every built-in policy keeps the contract, and changes nothing when it is watched."""

from __future__ import annotations

from typing import Any

import pytest

from policies import catalogue, make_policy
from policies.registry import PolicyEntry
from serving_sim import Policy, simulate
from serving_sim.testing import INSTANCES, Checked, PassThrough, PolicyContract

# a wrapper is tried around the policy that plans most
REQUIRED = {"alpha": 5, "inner": "isjl", "k": 3, "w": 2.5, "x": 0.618}

BUILT_IN = [entry for entry in catalogue() if entry.origin == "built in"]


def build(entry: PolicyEntry) -> Policy:
    needed = [parameter for parameter in entry.parameters if "=" not in parameter]
    parameters: dict[str, Any] = {name: REQUIRED[name] for name in needed}
    if "inner" in needed:
        parameters["alpha"] = REQUIRED["alpha"]
    return make_policy(entry.name, **parameters)


@pytest.fixture(params=BUILT_IN, ids=[entry.name for entry in BUILT_IN])
def entry(request: pytest.FixtureRequest) -> PolicyEntry:
    chosen: PolicyEntry = request.param
    return chosen


class TestBuiltIn(PolicyContract):
    @pytest.fixture(autouse=True)
    def _choose(self, entry: PolicyEntry) -> None:
        self.entry = entry

    def make_policy(self) -> Policy:
        return build(self.entry)


@pytest.mark.parametrize("wrap", [Checked, PassThrough])
def test_wrapped_policy_gives_the_schedule_of_the_policy_alone(
    entry: PolicyEntry, wrap: type[PassThrough]
) -> None:
    watched = wrap(build(entry))
    for instance in INSTANCES:
        alone, wrapped = (
            simulate(
                instance.workload,
                policy,
                slots=instance.slots,
                step_time=instance.step_time,
                slotted=instance.slotted,
            )
            for policy in (build(entry), watched)
        )
        assert wrapped.start.tolist() == alone.start.tolist()
        assert wrapped.slot.tolist() == alone.slot.tolist()
        assert (wrapped.policy, wrapped.audit, wrapped.totals) == (alone.policy, alone.audit, alone.totals)
