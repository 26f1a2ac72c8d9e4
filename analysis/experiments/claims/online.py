"""Section 3.5: arrivals over time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from analysis.experiments.adversarial import (
    GOLDEN,
    best_delay,
    golden_ratio_curve,
    golden_ratio_limit,
    play_golden_ratio,
)
from analysis.experiments.claims.cases import Case, Space
from analysis.experiments.claims.claim import Budget, Claim, Kind, Verdict
from analysis.experiments.claims.hunt import hunt
from analysis.experiments.claims.isjl_general import GUARD, as_printed, guarded
from analysis.experiments.claims.promises import Fairness
from analysis.experiments.claims.schedules import serve
from analysis.experiments.claims.verdicts import described, fairness
from policies import FCFS, ISJL, LJF, LPT, Delayed, Fair, Windowed
from workloads.adversaries import Instance

_ARRIVING = Space(slots=(2, 3, 4, 6), most=12, released=True)
_ALPHA = 5
_CLOSE = 1e-9
_DELAYS = (0.0, 0.1, 0.3, 0.5, 0.7, 1.0, 1.5)


def _guarded_is_fair(rng: np.random.Generator, budget: Budget) -> Verdict:
    promise = Fairness(_ARRIVING, guarded)
    return fairness(promise, hunt(promise, rng, budget), why="")


def _printed_is_fair(rng: np.random.Generator, budget: Budget) -> Verdict:
    promise = Fairness(_ARRIVING, as_printed)
    return fairness(promise, hunt(promise, rng, budget), why=GUARD)


def _is_causal(rng: np.random.Generator, budget: Budget) -> Verdict:
    count = budget.of(200)
    for turn in range(count):
        case = _ARRIVING.draw(rng)
        instant = int(rng.choice([row.release for row in case.rows]))
        known = _released_by(instant, case.instance)
        whole, part = (
            serve(Case(instance), ISJL(instance.alpha)).start for instance in (case.instance, known)
        )
        decided = part <= instant
        if not np.array_equal(whole[: len(known)][decided], part[decided]):
            return Verdict(Kind.FAILS, f"{described(case)}: starts up to {instant} differ", turn + 1)
    return Verdict(
        Kind.EXACT, "starts up to an instant stay the same when later requests are cut off", count, 0.0
    )


def _released_by(instant: int, instance: Instance) -> Instance:
    assert instance.releases is not None
    count = sum(release <= instant for release in instance.releases)
    return replace(instance, lengths=instance.lengths[:count], releases=instance.releases[:count])


def _golden_ratio(_rng: np.random.Generator, _budget: Budget) -> Verdict:
    lengths = (10**2, 10**4, 10**6)
    worst, played = 0.0, 0
    for length in lengths:
        eta = (_ALPHA + 0.5) / length
        for x in (*_DELAYS, best_delay(eta)):
            duel = play_golden_ratio(Delayed(Fair(FCFS(), _ALPHA), x), length, _ALPHA)
            worst = max(worst, abs(duel.ratio[0] - golden_ratio_limit(x, eta)))
            played += 1
    peak = golden_ratio_curve(lengths[-1], _ALPHA, _DELAYS).peak
    good = worst < _CLOSE and abs(peak[1] - GOLDEN) < (_ALPHA + 0.5) / lengths[-1]
    return Verdict(
        Kind.HOLDS if good else Kind.FAILS,
        f"within {_CLOSE:g} of min(1 / (1 + x), (1 + x + eta) / (2 + x)) for {played} pairs of delay and "
        f"length; at L = 10^6 the best delay is {peak[0]:.6f} with ratio {peak[1]:.6f}, (sqrt(5) - 1) / 2 is "
        f"{GOLDEN:.6f}",
        played,
    )


def _nobody_beats_it(rng: np.random.Generator, budget: Budget) -> Verdict:
    length = 10_000
    eta = (_ALPHA + 0.5) / length
    fair = [Fair(policy, _ALPHA) for policy in (FCFS(), LPT())]
    policies = [
        *fair,
        LJF(),
        ISJL(_ALPHA),
        *(Delayed(ISJL(_ALPHA), float(x)) for x in rng.uniform(0, 2, budget.of(40))),
        *(Windowed(Fair(FCFS(), _ALPHA), float(w)) for w in rng.uniform(0, 2 * length, budget.of(20))),
    ]
    duels = [play_golden_ratio(policy, length, _ALPHA) for policy in policies]
    best = max(duels, key=lambda duel: duel.ratio[1])
    margin = GOLDEN + eta - best.ratio[1]
    return Verdict(
        Kind.HOLDS if margin >= 0 else Kind.FAILS,
        f"best of {len(duels)} fair policies: {best.policy} with {best.ratio[1]:.4f}; ISJL, which starts at "
        f"once, gets {duels[3].ratio[1]:.4f}",
        len(duels),
        margin,
    )


CLAIMS = (
    Claim(
        "Proposition 3.26",
        "Online-ISJL keeps constraint (1) for every arrival sequence.",
        _guarded_is_fair,
        assumes="releases in whole steps",
        reading="With the guard in Phase ONE.",
        tested="isjl",
    ),
    Claim(
        "Proposition 3.26 (as printed)",
        "The same without the guard.",
        _printed_is_fair,
        assumes="releases in whole steps",
        tested="isjl-as-printed",
    ),
    Claim(
        "Section 3.5 (causality)",
        "Online-ISJL decides from released requests alone.",
        _is_causal,
        assumes="releases in whole steps",
        tested="isjl",
    ),
    Claim(
        "Proposition 3.27 (adversary)",
        "Against a policy that starts a lone request of length L at x L the adversary forces "
        "min(1 / (1 + x), (1 + x + eta) / (2 + x)), best at x = (sqrt(5) - 1) / 2 as L grows.",
        _golden_ratio,
        assumes="two slots, eta = (alpha + epsilon) / L",
        reading="The adversary is a source that sees only when its request starts; alpha = 5, epsilon = 1/2.",
        tested="fair-fcfs, delayed",
    ),
    Claim(
        "Proposition 3.27",
        "No fair deterministic online policy gets more than (sqrt(5) - 1) / 2 against that adversary.",
        _nobody_beats_it,
        assumes="two slots, L = 10,000",
        reading="No test covers every policy: tried are the fair ones here, delayed and windowed at random. "
        "delta is eta, which vanishes as L grows.",
        tested="fair-fcfs, fair-lpt, ljf, isjl, delayed, windowed",
    ),
)
