"""A `Case` of the oracle, served by the engine."""

from __future__ import annotations

from known_schedules import Known
from oracle import Case

from policies import make_policy
from serving_sim import Policy, Run, StepTime, Workload, simulate

WITHOUT_ALPHA = {"fcfs", "sjf", "lpt", "ljf"}


def policy_of(case: Case) -> Policy:
    parameters: dict[str, int | str] = {} if case.policy in WITHOUT_ALPHA else {"alpha": case.alpha}
    if case.beta is not None:
        parameters["beta"] = case.beta
    return make_policy(case.policy, **parameters)


def workload_of(case: Case) -> Workload:
    prompt = None if case.first_token_step is None else [step - 1 for step in case.first_token_step]
    return Workload(case.release, case.length, upper=case.upper, prompt_tokens=prompt)


def run_case(case: Case, policy: Policy | None = None, *, record_batches: bool = False) -> Run:
    return simulate(
        workload_of(case),
        policy_of(case) if policy is None else policy,
        slots=case.slots,
        step_time=StepTime(*case.pace),
        slotted=case.slotted,
        information="interval" if case.interval else "exact",
        alpha=case.alpha,
        record_batches=record_batches,
    )


def check_engine(known: Known) -> None:
    run = run_case(known.case)
    known.check(
        start=run.start.tolist(),
        finish=run.finish.tolist(),
        slot=run.slot.tolist(),
        steps=run.steps,
        max_gap=run.max_gap,
        externality=run.externality,
    )
