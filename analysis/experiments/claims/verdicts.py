"""Verdicts that many checks end in."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from analysis.experiments.claims.cases import Case, size
from analysis.experiments.claims.claim import Kind, Verdict
from analysis.experiments.claims.hunt import Trophy
from analysis.experiments.claims.promises import Fairness, Share
from analysis.experiments.claims.schedules import against_optimum, by_itself, serve
from workloads.adversaries import Instance


def exact(evidence: str, instances: int, *, broken: str | None = None) -> Verdict:
    """An identity: met on every instance, or broken as told."""
    if broken is None:
        return Verdict(Kind.EXACT, evidence, instances, margin=0.0)
    return Verdict(Kind.FAILS, f"broken: {broken}", instances)


def shares(hunts: Sequence[tuple[Share, Trophy]], *, why: str) -> Verdict:
    """Verdict on promised shares of the optimal throughput, from one hunt or several.

    Parameters
    ----------
    hunts : sequence of (Share, Trophy)
        What was promised and what was found.
    why : str
        Reason to give if a promise is broken.
    """
    instances = sum(trophy.instances for _, trophy in hunts)
    promise, trophy = min(hunts, key=lambda hunted: hunted[1].margin)
    margin = float(trophy.margin)
    worst = f"worst {promise.symbol} = {ratio(promise.reached(trophy.worst))}, {described(trophy.worst)}"
    broken = [(promise, trophy.smallest) for promise, trophy in hunts if trophy.smallest is not None]
    if not broken:
        return Verdict(Kind.HOLDS, worst, instances, margin)
    promise, smallest = min(broken, key=lambda pair: size(pair[1]))
    shown = against_optimum(smallest, promise.policy(smallest))
    assert shown.best is not None
    return Verdict(
        Kind.FAILS,
        f"{described(smallest)}: {shown.played.makespan} steps, {shown.best.makespan} are enough, "
        f"{promise.symbol} = {float(promise.reached(smallest)):.4f} < {float(promise.share(smallest)):.4f}; "
        f"{worst}",
        instances,
        margin,
        shown,
        why,
    )


def fairness(promise: Fairness, trophy: Trophy, *, why: str) -> Verdict:
    """Verdict on constraint (1)."""
    if trophy.smallest is None:
        return Verdict(
            Kind.HOLDS, "no gap above alpha in any step of any run", trophy.instances, float(trophy.margin)
        )
    case = trophy.smallest
    policy = promise.policy(case)
    run = serve(case, policy)
    first = run.audit.first
    assert first is not None
    return Verdict(
        Kind.FAILS,
        f"{described(case)}: request {first.request} starts at {first.time:g} beside request {first.other} "
        f"with {first.gap} tokens, more than alpha = {case.instance.alpha}",
        trophy.instances,
        float(trophy.margin),
        by_itself(case, policy),
        why,
    )


def described(case: Case | Instance) -> str:
    """Lengths, releases, predictions, slots and budget in words."""
    instance, upper = (case.instance, case.upper) if isinstance(case, Case) else (case, None)
    text = f"lengths {numbers(instance.lengths)}"
    if upper is not None and upper != instance.lengths:
        text += f" predicted as {numbers(upper)}"
    if instance.releases is not None and any(instance.releases):
        text += f" released at {numbers(instance.releases)}"
    return f"{text} (B = {instance.slots}, alpha = {instance.alpha})"


def numbers(values: Sequence[int]) -> str:
    """``10, 7, 7``."""
    return ", ".join(map(str, values))


def ratio(value: Fraction) -> str:
    """``15/20 = 0.7500`` without reducing what is already short."""
    return f"{value.numerator}/{value.denominator} = {float(value):.4f}"
