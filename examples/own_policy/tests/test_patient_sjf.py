"""The contract that every policy keeps, and the rule that is this one's own."""

from patient_sjf import PatientSJF

from serving_sim import Workload, simulate
from serving_sim.testing import PolicyContract


class TestContract(PolicyContract):
    """Every check of the conformance kit."""

    def make_policy(self) -> PatientSJF:
        """A new policy for each of them."""
        return PatientSJF(patience=8)


def test_small_ones_pass_until_patience_ends() -> None:
    """Request 1 lets request 2 pass at time 5; at time 9 it has waited for 9 and goes."""
    workload = Workload(release=[0, 0, 1, 2], length=[5, 9, 4, 4])
    run = simulate(workload, PatientSJF(patience=8), slots=1)
    assert run.start.tolist() == [0, 9, 5, 18]
