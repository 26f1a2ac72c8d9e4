"""Who serves: the worker that the options describe, and the policies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from analysis.cli.information import seen_by_policies
from analysis.cli.options import WorkerOptions
from analysis.cli.parsing import parse_beta

if TYPE_CHECKING:
    from serving_sim import Policy, ReactiveSource, Run, StepTime, Workload


@dataclass(frozen=True)
class Server:
    """A worker, and what is audited and recorded of it; the fields are as for `serving_sim.simulate`."""

    slots: int
    alpha: int | None
    step_time: StepTime
    slotted: bool
    information: Literal["exact", "interval"]
    record_batches: bool

    def simulate(self, source: Workload | ReactiveSource, policy: Policy) -> Run:
        """Serve all requests of a source."""
        from serving_sim import simulate

        return simulate(
            source,
            policy,
            slots=self.slots,
            step_time=self.step_time,
            slotted=self.slotted,
            information=self.information,
            alpha=self.alpha,
            record_batches=self.record_batches,
        )


def make_server(worker: WorkerOptions, step_time: StepTime, *, record_batches: bool = False) -> Server:
    """The worker that the options describe, once `analysis.cli.preset.with_defaults` has completed them."""
    assert worker.slots is not None
    return Server(
        slots=worker.slots,
        alpha=worker.alpha,
        step_time=step_time,
        slotted=worker.slotted,
        information=seen_by_policies(worker.information),
        record_batches=record_batches,
    )


def make_policies(texts: Sequence[str], worker: WorkerOptions) -> tuple[Policy, ...]:
    """Policies by their texts, with what the options say of alpha and beta, and checked where asked for.

    Raises
    ------
    ValueError
        If a text or an option is refused.
    """
    from policies import parse_policy

    options = {"alpha": worker.alpha, "beta": parse_beta(worker.beta)}
    given = {key: value for key, value in options.items() if value is not None}
    built = tuple(parse_policy(text, defaults=given) for text in texts)
    if not worker.check:
        return built
    from serving_sim.testing import Checked

    return tuple(map(Checked, built))
