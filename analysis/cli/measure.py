"""Serve all policies: on the replications asked for, or on as many as the wanted precision takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from analysis.cli.serve import Job

if TYPE_CHECKING:
    from analysis.outcome import Outcome
    from serving_sim import Run

Write = Callable[[Job, "Outcome"], None]


def measure(job: Job, begin: Callable[[str], None], write: Write) -> tuple[Job, list[Outcome]]:
    """Outcomes of all policies, and the job as it ended: with its warm-up and its replications.

    Parameters
    ----------
    job : Job
        What to serve.
    begin : callable
        Told when each run starts.
    write : callable
        Given each outcome once it is final. Where neither the warm-up nor the number of replications
        waits for other policies, that is before the next policy runs, so that an interruption loses no
        finished policy.
    """
    if job.wanted.warmup is not None and not job.wanted.targets:
        outcomes = []
        for policy in job.policies:
            outcomes.append(job.evaluate(policy, job.serve(policy, begin)))
            write(job, outcomes[-1])
        return job, outcomes
    job, outcomes = _together(job, begin)
    for outcome in outcomes:
        write(job, outcome)
    return job, outcomes


def warmup_notes(asked: Job, final: Job, outcomes: Sequence[Outcome]) -> list[str]:
    """What MSER-5 says about the warm-up: where it decides, or enough replications smooth what it sees."""
    from analysis.sequential import FEWEST
    from analysis.steady_state import warm_up

    given = asked.wanted.warmup
    if given is not None and (len(final.traffic.workloads) < FEWEST or final.traffic.at_once):
        return []
    found = warm_up([each.runs for each in outcomes], [each.stability for each in outcomes])
    if found is None:
        return ["warm-up: nothing is left out, no policy keeps up"] if given is None else []
    most = ", the most that it may: these runs are too short to see a steady state" if found.capped else ""
    if given is None:
        return [f"warm-up: the first {found.requests:,} requests are left out, by MSER-5{most}"]
    if found.requests <= given:
        return []
    return [f"warm-up: MSER-5 would leave out the first {found.requests:,} requests, not {given:,}{most}"]


def _together(job: Job, begin: Callable[[str], None]) -> tuple[Job, list[Outcome]]:
    from analysis.sequential import next_size, state

    runs = [job.serve(policy, begin) for policy in job.policies]
    final, outcomes = _evaluated(job, runs)
    while (more := next_size(outcomes, job.wanted.targets, most=job.wanted.most_replications)) is not None:
        job = job.replicated(more)
        announce = _announcing(begin, state(outcomes, job.wanted.targets))
        for policy, mine in zip(job.policies, runs, strict=True):
            mine.extend(job.serve(policy, announce, first=len(mine)))
        final, outcomes = _evaluated(job, runs)
    return final, outcomes


def _evaluated(job: Job, runs: Sequence[Sequence[Run]]) -> tuple[Job, list[Outcome]]:
    final = job.warmed_up(runs)
    return final, [final.evaluate(policy, mine) for policy, mine in zip(job.policies, runs, strict=True)]


def _announcing(begin: Callable[[str], None], doing: str) -> Callable[[str], None]:
    return lambda name: begin(f"{name}: {doing}")
