"""Section 5: cost, externality and profit."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product

import numpy as np

from analysis.experiments.claims.accounts import Accounts, accounts, accounts_of
from analysis.experiments.claims.cases import Case, Space
from analysis.experiments.claims.claim import Budget, Claim, Kind, Verdict
from analysis.experiments.claims.hunt import hunt
from analysis.experiments.claims.isjl_general import PAIRS, guarded
from analysis.experiments.claims.promises import Share
from analysis.experiments.claims.schedules import against_optimum, least_makespan, serve
from analysis.experiments.claims.verdicts import described, exact
from policies import FCFS, LJF, LPT, SJF, Fair
from policies.replay import Replay
from serving_sim import Policy, simulate
from workloads.adversaries import Instance, long_then_short

_ARRIVING = Space(slots=(2, 3, 4, 6), most=25, longest=40, released=True)
_BACKLOG = Space(slots=(2, 3, 4, 6), most=25, longest=40)
_LONGEST_QUEUE = 500


def _decomposition(rng: np.random.Generator, budget: Budget) -> Verdict:
    runs = unfair = 0
    for case, found, total in _runs(rng, budget.of(60)):
        price, per_step, per_token = (int(value) for value in rng.integers(0, 1000, size=3))
        stated = (
            price * total.tokens - per_token * (total.intrinsic + total.externality) - per_step * total.steps
        )
        unfair += found.max_gap > case.instance.alpha
        runs += 1
        if found != total or found.profit(price, per_step, per_token) != stated:
            return exact("", runs, broken=described(case))
    return exact(
        f"profit step by step equals p O - tau Q - c T - tau E to the last unit; {unfair} of {runs} "
        "schedules break constraint (1)",
        runs,
    )


def _externality_bound(rng: np.random.Generator, budget: Budget) -> Verdict:
    fair, closest = 0, 0.0
    for case, found, _ in _runs(rng, budget.of(60)):
        if found.max_gap > case.instance.alpha:
            continue
        fair += 1
        allowed = case.instance.alpha * found.tokens
        if found.externality > allowed:
            return Verdict(Kind.FAILS, f"{described(case)}: E = {found.externality} > {allowed}", fair)
        closest = max(closest, found.externality / allowed if allowed else 0.0)
    return Verdict(
        Kind.HOLDS, f"E is at most {closest:.3f} alpha O over {fair} fair schedules", fair, 1 - closest
    )


def _certified_profit(rng: np.random.Generator, budget: Budget) -> Verdict:
    fair = 0
    for case, found, _ in _runs(rng, budget.of(60)):
        if found.max_gap > case.instance.alpha:
            continue
        fair += 1
        price, per_step, per_token = (int(value) for value in rng.integers(0, 1000, size=3))
        certified = (
            price * found.tokens
            - per_token * (found.intrinsic + case.instance.alpha * found.tokens)
            - per_step * found.steps
        )
        if found.profit(price, per_step, per_token) < certified:
            return Verdict(Kind.FAILS, described(case), fair)
    return Verdict(
        Kind.HOLDS, f"{fair} fair schedules, none below the certified profit, which falls in T alone", fair
    )


def _pairwise(rng: np.random.Generator, budget: Budget) -> Verdict:
    pairs = 0
    for _ in range(budget.of(40)):
        case = _BACKLOG.draw(rng)
        found = [accounts_of(serve(case, policy)) for policy in _policies(case)]
        price, per_step, per_token = (int(value) for value in rng.integers(0, 1000, size=3))
        for one, other in combinations(found, 2):
            pairs += 1
            left = one.profit(price, per_step, per_token) - other.profit(price, per_step, per_token)
            right = per_step * (other.steps - one.steps) + per_token * (other.externality - one.externality)
            if left != right:
                return exact("", pairs, broken=described(case))
    return exact("the difference of two profits is c (T_B - T_A) + tau (E_B - E_A)", pairs)


def _isjl_beside_others(rng: np.random.Generator, budget: Budget) -> Verdict:
    count = budget.of(100)
    for turn in range(count):
        case = _BACKLOG.draw(rng)
        isjl, static, open_ = (accounts_of(serve(case, policy)) for policy in (guarded(case), LJF(), FCFS()))
        per_step, per_token = (int(value) for value in rng.integers(0, 1000, size=2))
        allowed = per_token * case.instance.alpha * isjl.tokens
        gains = [
            isjl.profit(0, per_step, per_token) - other.profit(0, per_step, per_token)
            for other in (static, open_)
        ]
        stated = [
            per_step * (other.steps - isjl.steps) + per_token * other.externality - allowed
            for other in (static, open_)
        ]
        if static.externality or any(gain < least for gain, least in zip(gains, stated, strict=True)):
            return Verdict(Kind.FAILS, described(case), turn + 1)
    return Verdict(Kind.HOLDS, "both inequalities, and E = 0 for LJF, on every instance", count)


def _quadratic_externality(_rng: np.random.Generator, _budget: Budget) -> Verdict:
    per_step, per_token = 7, 3
    for length in range(1, _LONGEST_QUEUE + 1):
        workload = long_then_short(length).workload
        fcfs, ljf = (simulate(workload, policy, slots=2) for policy in (FCFS(), LJF()))
        more = -(-(length - 1) // 2)
        found = (fcfs.steps, fcfs.externality, ljf.steps, ljf.externality)
        gain = per_token * (fcfs.externality - ljf.externality) + per_step * (fcfs.steps - ljf.steps)
        stated = per_token * length * (length - 1) // 2 - per_step * more
        if found != (length, length * (length - 1) // 2, length + more, 0) or gain != stated:
            return exact("", length, broken=f"L = {length}: {found}")
        if length >= per_step and gain < 0:  # tau L (L - 1) / 2 >= c ceil((L - 1) / 2) once tau L >= c
            return exact("", length, broken=f"L = {length}: FCFS is still more profitable")
    return exact(f"T, E and the difference of profits for every L from 1 to {_LONGEST_QUEUE}", _LONGEST_QUEUE)


def _additive_guarantee(rng: np.random.Generator, budget: Budget) -> Verdict:
    space = Space(slots=(2, 3), most=4, longest=7)
    count, least = budget.of(40), np.inf
    for _ in range(count):
        case = space.draw(rng)
        per_step, per_token = (int(value) for value in rng.integers(1, 40, size=2))
        fair = list(_fair_schedules(case.instance))
        best = min(fair, key=lambda schedule: schedule.cost(per_step, per_token))
        shortest = min(schedule.steps for schedule in fair)
        for policy in (guarded(case), LJF(), Fair(FCFS(), case.instance.alpha)):
            mine = accounts_of(serve(case, policy))
            # the theorem times rho, with rho = T_OPT / T_A, which keeps all numbers whole
            loss = shortest * (mine.cost(per_step, per_token) - best.cost(per_step, per_token))
            allowed = per_step * (mine.steps - shortest) * best.steps
            allowed += shortest * per_token * case.instance.alpha * mine.tokens
            least = min(least, float(allowed - loss) / shortest)
            if loss > allowed:
                return Verdict(Kind.FAILS, described(case), count, least)
    return Verdict(
        Kind.HOLDS,
        "isjl, ljf and fair-fcfs against the best of all fair schedules, listed one by one",
        3 * count,
        least,
    )


def _isjl_guarantee(rng: np.random.Generator, budget: Budget) -> Verdict:
    """Where a step costs more than any externality can save, profit is makespan."""
    promise = Share(Space(slots=(3,), most=6), guarded, lambda _: 3 / 4)
    trophy = hunt(promise, rng, budget)
    if trophy.smallest is None:
        return Verdict(
            Kind.HOLDS, "no instance with T > 4/3 T_OPT found", trophy.instances, float(trophy.margin)
        )
    case = trophy.smallest
    example = against_optimum(case, guarded(case))
    assert example.best is not None
    lengths = np.array(case.instance.lengths)
    mine, best = (accounts(np.array(made.start), lengths) for made in (example.played, example.best))
    ceiling = case.instance.alpha * mine.tokens
    per_step = 3 * (best.externality + ceiling) + 1  # so the shortest schedules are the most profitable
    loss = mine.cost(per_step, 1) - best.cost(per_step, 1)
    allowed = per_step * best.steps / 3 + ceiling
    return Verdict(
        Kind.FAILS if loss > allowed else Kind.HOLDS,
        f"{described(case)}, tau = 1, c = {per_step}: ISJL earns {loss} less than a fair schedule, "
        f"the bound is {allowed:.1f}",
        trophy.instances,
        (allowed - loss) / per_step,
        example,
        PAIRS,
    )


def _nested(rng: np.random.Generator, budget: Budget) -> Verdict:
    space = Space(slots=(2, 3), most=6, longest=12)
    count = budget.of(12)
    for turn in range(count):
        instance = space.draw(rng).instance
        budgets = range(0, max(instance.lengths) + 1, 2)
        optima = [
            least_makespan(Instance(instance.lengths, instance.slots, alpha)).upper for alpha in budgets
        ]
        if optima != sorted(optima, reverse=True):
            return Verdict(
                Kind.FAILS, f"{described(instance)}: optima {optima} for alpha {list(budgets)}", turn + 1
            )
    return Verdict(Kind.HOLDS, "the optimum never grows with alpha, from 0 to the longest length", count)


def _calibration(rng: np.random.Generator, budget: Budget) -> Verdict:
    tried = 0
    for _ in range(budget.of(60)):
        case = _BACKLOG.draw(rng)
        for percent in (5, 20, 50, 100):
            alpha = percent * case.workload.intrinsic // (100 * case.workload.total_length)
            found = accounts_of(
                serve(case, guarded(Case(Instance(case.instance.lengths, case.instance.slots, alpha))))
            )
            tried += 1
            if 100 * found.externality > percent * found.intrinsic:
                return Verdict(Kind.FAILS, f"{described(case)}, delta = {percent} %", tried)
    return Verdict(Kind.HOLDS, "E is at most delta Q for delta = 5, 20, 50 and 100 %", tried)


def _sample_ratio(rng: np.random.Generator, _budget: Budget) -> Verdict:
    lengths = rng.integers(1, 1001, 1_000_000)
    measured = float((lengths * (lengths + 1)).sum() / (2 * lengths.sum()))
    mean, square = 1001 / 2, 1001 * 2001 / 6
    expected = (square + mean) / (2 * mean)
    error = abs(measured / expected - 1)
    return Verdict(
        Kind.REPRODUCED if error < 0.005 else Kind.FAILS,
        f"uniform lengths 1 .. 1000: Q / O = {measured:.1f} for a million requests, {expected:.1f} expected",
        1,
    )


def _runs(rng: np.random.Generator, cases: int) -> Iterator[tuple[Case, Accounts, Accounts]]:
    """Random runs, fair and unfair: accounts step by step, and as the engine kept them."""
    for turn in range(cases):
        case = (_ARRIVING if turn % 2 else _BACKLOG).draw(rng)
        for policy in [*_policies(case), Replay(random_schedule(rng, case.instance))]:
            run = serve(case, policy)
            found = accounts_of(run)
            kept = Accounts(
                run.totals.tokens,
                run.intrinsic,
                run.steps,
                run.externality,
                found.peak,
                run.max_gap,
            )
            yield case, found, kept


def random_schedule(rng: np.random.Generator, instance: Instance) -> list[int]:
    """Starts that respect capacity and releases and nothing else, idle steps among them."""
    free_at = [0] * instance.slots
    start = [0] * len(instance)
    for request in rng.permutation(len(instance)).tolist():
        slot = int(rng.integers(instance.slots))
        release = 0 if instance.releases is None else instance.releases[request]
        start[request] = max(free_at[slot], release) + int(rng.integers(0, 4))
        free_at[slot] = start[request] + instance.lengths[request]
    return start


def _policies(case: Case) -> list[Policy]:
    alpha = case.instance.alpha
    return [FCFS(), SJF(), LPT(), LJF(), guarded(case), Fair(FCFS(), alpha), Fair(LPT(), alpha)]


def _fair_schedules(instance: Instance) -> Iterator[Accounts]:
    """All alpha-fair schedules no longer than LJF's: a longer one costs more in both terms."""
    horizon = serve(Case(instance), LJF()).steps
    lengths = np.array(instance.lengths)
    for start in product(*(range(horizon - length + 1) for length in instance.lengths)):
        begins = np.array(start)
        overlap = (begins[:, None] < begins + lengths) & (begins < (begins + lengths)[:, None])
        if np.abs(np.subtract.outer(begins, begins))[overlap].max() > instance.alpha:
            continue
        if max(((begins <= t) & (begins + lengths > t)).sum() for t in start) <= instance.slots:
            yield accounts(begins, lengths)


CLAIMS = (
    Claim(
        "Theorem 5.1",
        "Profit is p O - tau Q - c T - tau E for every schedule.",
        _decomposition,
        assumes="any schedule, any whole prices",
        reading="The left side is added up step by step from the starts, T and E are the engine's totals.",
        tested="fcfs, sjf, lpt, ljf, isjl, fair-fcfs, fair-lpt, schedules at random",
    ),
    Claim(
        "Theorem 5.1 (bound)",
        "An alpha-fair schedule has E at most alpha O.",
        _externality_bound,
        assumes="schedules that keep constraint (1)",
        tested="fcfs, sjf, lpt, ljf, isjl, fair-fcfs, fair-lpt",
    ),
    Claim(
        "Theorem 5.2",
        "A fair schedule with T at most T_OPT / rho loses at most c (1 / rho - 1) T* + tau alpha O against "
        "the most profitable fair one.",
        _additive_guarantee,
        assumes="all released at 0, four requests at most",
        reading="With rho = T_OPT / T of the very instance; the margin is in units of cost.",
        tested="isjl, ljf, fair-fcfs",
    ),
    Claim(
        "Theorem 5.2 (ISJL)",
        "ISJL loses at most c T* / 3 + tau alpha O.",
        _isjl_guarantee,
        assumes="all released at 0; theorem 3.19",
        reading="With a step so dear that the shortest fair schedules are the most profitable.",
        tested="isjl",
        needs_optimum=True,
    ),
    Claim(
        "Proposition 5.3",
        "Two schedules of the same requests differ in profit by c (T_B - T_A) + tau (E_B - E_A).",
        _pairwise,
        assumes="the same requests",
        tested="fcfs, sjf, lpt, ljf, isjl, fair-fcfs, fair-lpt",
    ),
    Claim(
        "Proposition 5.3 (ISJL)",
        "LJF has no externality, and ISJL's lead over LJF and FCFS is at least what its makespan saves less "
        "tau alpha O, plus tau E of FCFS.",
        _isjl_beside_others,
        assumes="all released at 0",
        tested="isjl, ljf, fcfs",
    ),
    Claim(
        "Proposition 5.4",
        "One request of L, then L of 1: FCFS has T = L and E = L (L - 1) / 2, LJF T = L + ceil((L - 1) / 2) "
        "and E = 0, so LJF earns more once L is large.",
        _quadratic_externality,
        assumes="two slots, all released at 0",
        reading="For every L from 1 to 500, with c = 7 and tau = 3 for the profits.",
        tested="fcfs, ljf",
    ),
    Claim(
        "Corollary 5.5",
        "A fair schedule earns at least p O - tau Q - tau alpha O - c T.",
        _certified_profit,
        assumes="schedules that keep constraint (1)",
        tested="fcfs, sjf, lpt, ljf, isjl, fair-fcfs, fair-lpt",
    ),
    Claim(
        "Proposition 5.6",
        "A larger alpha never makes the optimal makespan larger.",
        _nested,
        assumes="all released at 0",
        needs_optimum=True,
    ),
    Claim(
        "Section 5.1 (calibration)",
        "alpha at most delta Q / O keeps the externality below delta times the intrinsic work.",
        _calibration,
        assumes="all released at 0",
        tested="isjl",
    ),
    Claim(
        "Section 5.1 (sample)",
        "Q / O of a large sample is about (E L^2 + E L) / (2 E L).",
        _sample_ratio,
        assumes="independent lengths",
        reading="Within half a per cent for a million requests.",
    ),
)
