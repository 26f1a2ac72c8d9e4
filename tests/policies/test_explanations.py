"""What policies say of their decisions, worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from policies import FCFS, ISJL, Delayed, Fair, Windowed, parse_policy
from policies.parameters import Beta
from policies.replay import Replay
from serving_sim import Admission, Epoch, Explanation, Policy, Workload, simulate
from serving_sim.testing import PassThrough

SMALL = Workload(release=[0] * 5, length=[10, 7, 7, 5, 1])


class Asking(PassThrough):
    """Asks for the reason of every answer."""

    def __init__(self, inner: Policy) -> None:
        super().__init__(inner)
        self.said: list[tuple[float, Explanation | None]] = []

    def decide(self, epoch: Epoch) -> Sequence[Admission]:
        answer = super().decide(epoch)
        self.said.append((epoch.now, self.explain(epoch, answer)))
        return answer


def reasons(text: str, workload: Workload, slots: int = 2) -> list[tuple[float, str, dict[int, str]]]:
    """Time, rule and what is said of requests, at every decision."""
    asking = Asking(parse_policy(text))
    simulate(workload, asking, slots=slots)
    return [(time, said.rule, dict(said.requests)) for time, said in asking.said if said is not None]


@pytest.mark.parametrize(
    ("beta", "described"),
    [
        (None, "isjl:alpha=4"),
        (4, "isjl:alpha=4"),
        (2.0, "isjl:alpha=4,beta=2"),
        ("optimal", "isjl:alpha=4,beta=optimal"),
    ],
)
def test_isjl_tells_its_beta_where_it_is_not_alpha(beta: Beta, described: str) -> None:
    assert ISJL(alpha=4, beta=beta).describe() == described


def test_isjl_tells_plan_hold_and_phase_two() -> None:
    # the starts are those of the model's table: 10 at 2, 7 at 6, 5 at 0, 1 at 5, 7 at 13
    plan = "Phase ONE: packs end at step 6, longs start from step 6 - alpha = 2 on"
    assert reasons("isjl:alpha=4,beta=optimal", SMALL) == [
        (0, plan, {
            3: "packed on slot 1",
            4: "packed on slot 1, place 1",
            0: "long of slot 0, held until step 2",
            1: "long of slot 1, held until step 2",
        }),
        (2, plan, {
            0: "long of slot 0",
            4: "packed on slot 1, place 1",
            1: "long of slot 1, after its pack",
        }),
        (5, plan, {4: "packed on slot 1", 1: "long of slot 1, when the slot is free"}),
        (6, plan, {1: "long of slot 1"}),
        (13, "no Phase ONE, fewer than two waiting requests exceed alpha = 4: the largest first", {}),
    ]  # fmt: skip


def packed(later: int) -> list[tuple[float, str, dict[int, str]]]:
    """Decisions at 2 slots with longs 20 and 14, packs 3 on slot 2 and 3, 3, 2 on slot 1; one comes at 1."""
    workload = Workload([0, 0, 0, 0, 0, 0, 1], [20, 14, 3, 3, 3, 2, later])
    return reasons("isjl:alpha=4", workload, slots=3)


HOLD = "Phase ONE: packs end at step 8, longs start from step 8 - alpha = 4 on"
LEFT = {5: "packed on slot 1, place 1", 0: "long of slot 0, held until step 4"}


def test_isjl_tells_why_a_slot_stays_idle_while_somebody_waits() -> None:
    time, rule, said = packed(later=9)[2]
    assert (time, rule) == (3, f"{HOLD}; the largest waiting request exceeds alpha and waits as long")
    assert said == {4: "packed on slot 1", 1: "long of slot 1, held until step 4", **LEFT}
    assert packed(later=9)[3][0:2] == (4, HOLD)


def test_isjl_fills_a_slot_that_the_plan_has_nothing_for() -> None:
    time, rule, said = packed(later=2)[2]
    assert (time, rule) == (3, HOLD)
    assert said == {
        4: "packed on slot 1",
        6: "largest waiting request, slot 2 has neither pack nor long left",
        1: "long of slot 1, held until step 4",
        **LEFT,
    }


def test_isjl_without_packs_and_behind_the_last_long() -> None:
    starts = "Phase ONE: nothing is packed, the longs start at once"
    two = "Phase TWO: the largest first, A_max = 0 <= alpha = 4"
    assert reasons("isjl:alpha=4", Workload([0, 0], [9, 8])) == [
        (0, starts, {0: "long of slot 0", 1: "long of slot 1"})
    ]
    one = "no Phase ONE on a single slot: the largest first"
    assert reasons("isjl:alpha=4", Workload([0, 0], [9, 8]), slots=1) == [(0, one, {}), (9, one, {})]
    few = "no Phase ONE, fewer than two waiting requests exceed alpha = 4: the largest first"
    assert reasons("isjl:alpha=4", Workload([0, 0, 0], [9, 3, 2])) == [
        (0, few, {}),
        (3, two.replace("A_max = 0", "A_max = 3"), {}),
    ]


def test_isjl_holds_no_long_for_packs_that_end_within_alpha() -> None:
    # a pack of 2 beside a budget of 4; the second plan begins at step 9, when the worker is empty again
    no_hold = "Phase ONE: packs end at step {}, within alpha = 4 of its begin: no long is held"
    said = reasons("isjl:alpha=4", Workload([0, 0, 0, 30, 30, 30], [9, 7, 2, 9, 7, 2]))
    assert [(time, rule) for time, rule, _ in said] == [
        (0, no_hold.format(2)),
        (2, no_hold.format(2)),
        (30, no_hold.format(11)),
        (32, no_hold.format(11)),
    ]
    assert said[0][2] == {
        0: "long of slot 0",
        2: "packed on slot 1",
        1: "long of slot 1, when the slot is free",
    }


def test_isjl_goes_on_with_packs_once_all_longs_have_started() -> None:
    # slots 2 and 3 pack 3 and 1, 2 and 2; both longs start at 0, before the second requests of the packs
    said = reasons("isjl:alpha=4", Workload([0] * 6, [9, 9, 3, 1, 2, 2]), slots=4)
    assert said[:1] == [
        (
            0,
            "Phase ONE: packs end at step 4, longs start from step 4 - alpha = 0 on",
            {
                0: "long of slot 0",
                1: "long of slot 1",
                2: "packed on slot 2",
                4: "packed on slot 3",
                3: "packed on slot 2, place 1",
                5: "packed on slot 3, place 1",
            },
        )
    ]
    going_on = "Phase ONE: all longs have started, the packs go on"
    assert said[1:3] == [
        (2, going_on, {5: "packed on slot 3", 3: "packed on slot 2, place 1"}),
        (3, going_on, {3: "packed on slot 2"}),
    ]


def test_as_printed_tells_what_starts_without_a_test() -> None:
    # slot 1 has no pack and starts its long at 0; slot 2 packs 4 and 4, so its long breaks alpha at 8
    rule = (
        "Phase ONE as printed: packs and longs start when their slot is free, the first long from step 4 on"
    )
    assert reasons("isjl-as-printed:alpha=4", Workload([0] * 5, [10, 10, 6, 4, 4]), slots=3) == [
        (0, f"{rule}; Phase TWO: the largest first, A_max = 0 <= alpha = 4", {
            1: "long of slot 1",
            3: "packed on slot 2",
            4: "packed on slot 2, place 1",
            0: "long of slot 0, held until step 4",
            2: "long of slot 2, after its pack",
        }),
        (4, f"{rule}; Phase TWO: the largest first, A_max = 4 <= alpha = 4", {
            0: "long of slot 0",
            4: "packed on slot 2",
            2: "long of slot 2, when the slot is free",
        }),
        (8, f"{rule}; Phase TWO: nobody enters, A_max = 8 > alpha = 4", {2: "long of slot 2"}),
    ]  # fmt: skip


def test_static_batches_name_their_class() -> None:
    workload = Workload([0, 0, 0], [3, 9, 5])
    rule = (
        "static batches: the request that has waited longest is of the class of {} tokens, "
        "the earliest of that class enter together"
    )
    assert [said[:2] for said in reasons("bucketed:k=2", workload)] == [
        (0, rule.format("1 to 5")),
        (5, rule.format("6 to 10")),
    ]
    rule = "static batches: the worker is empty, the largest waiting requests enter together"
    assert reasons("ljf", workload) == [(0, rule, {}), (9, rule, {})]


def test_orders_name_their_key_and_the_bound_before_them() -> None:
    workload = Workload([0, 0, 0], [3, 4, 5])
    rules = {
        "fcfs": "first come, first served: the request that has waited longest goes first",
        "sjf": "shortest job first: the smallest waiting request goes first",
        "lpt": "longest processing time: the largest waiting request goes first",
    }
    for name, rule in rules.items():
        assert [said[1] for said in reasons(name, workload)] == [rule, rule]
    assert [said[:2] for said in reasons("fair-fcfs:alpha=3", workload)] == [
        (0, f"A_max = 0 <= alpha = 3; {rules['fcfs']}"),
        (3, f"A_max = 3 <= alpha = 3; {rules['fcfs']}"),
    ]


def test_a_delay_says_who_is_held_and_names_the_inner_policy_s_requests_as_its_own() -> None:
    # delays of half the size: 10 until 5, both 7 until 3.5, the 5 that comes at 2 until 4.5
    said = reasons("delayed:x=0.5,inner=(isjl:alpha=4)", Workload([0, 0, 0, 2, 9], [10, 7, 7, 5, 1]))
    assert [said[0], *said[2:4]] == [
        (
            0,
            "all that wait found the worker empty and are held",
            {
                1: "found the worker empty, held until 3.5",
                2: "found the worker empty, held until 3.5",
                0: "found the worker empty, held until 5",
            },
        ),
        (
            3.5,
            "Phase ONE: nothing is packed, the longs start at once",
            {
                1: "long of slot 0",
                2: "long of slot 1",
                3: "found the worker empty, held until 4.5",
                0: "found the worker empty, held until 5",
            },
        ),
        (
            10.5,
            "Phase ONE: packs end at step 8, within alpha = 4 of its begin: no long is held",
            {0: "long of slot 0", 4: "packed on slot 1", 3: "long of slot 1, when the slot is free"},
        ),
    ]


def test_instants_are_told_as_they_are() -> None:
    ((time, rule, held),) = reasons("delayed:x=0.3,inner=fcfs", Workload([1234567.25], [5]))[:1]
    assert (time, rule) == (1234567.25, "all that wait found the worker empty and are held")
    assert held == {0: "found the worker empty, held until 1234568.75"}


def test_a_window_says_until_when_it_is_open() -> None:
    said = reasons("windowed:w=3,inner=sjf", Workload([0, 1, 5], [3, 4, 5]))
    assert said == [
        (0, "the worker became empty at 0: arrivals gather until 3", {}),
        (1, "the worker became empty at 0: arrivals gather until 3", {}),
        (3, "shortest job first: the smallest waiting request goes first", {}),
        (6, "shortest job first: the smallest waiting request goes first", {}),
    ]


def test_wrappers_around_a_policy_that_does_not_tell() -> None:
    class Silent(FCFS):
        explain = Policy.explain  # type: ignore[assignment]

    def said(policy: Policy) -> list[Explanation | None]:
        asking = Asking(policy)
        simulate(Workload([0, 2], [4, 4]), asking, slots=2)
        return [reason for _, reason in asking.said]

    assert said(Fair(Silent(), alpha=3)) == [
        Explanation("A_max = 0 <= alpha = 3"),
        Explanation("A_max = 2 <= alpha = 3"),
    ]
    assert said(Windowed(Silent(), w=0)) == [None, None]
    held = "found the worker empty, held until {}"
    assert said(Delayed(Silent(), x=1)) == [
        Explanation("all that wait found the worker empty and are held", {0: held.format(4)}),
        Explanation(
            "all that wait found the worker empty and are held", {0: held.format(4), 1: held.format(6)}
        ),
        Explanation("the others are shown to the inner policy", {1: held.format(6)}),
        None,
    ]


def test_a_replayed_schedule_says_when_the_others_are_due() -> None:
    asking = Asking(Replay([5, 0, 2]))
    simulate(Workload([0] * 3, [3, 3, 3]), asking, slots=2)
    rule = "a schedule that was given is played"
    assert asking.said[0] == (0, Explanation(rule, {2: "planned for 2", 0: "planned for 5"}))


def test_a_run_never_asks() -> None:
    class Untold(ISJL):
        def explain(self, epoch: Epoch, answer: Sequence[Admission]) -> Explanation:
            raise AssertionError("nobody should ask")

    assert simulate(SMALL, Untold(alpha=4), slots=2).steps == simulate(SMALL, ISJL(alpha=4), slots=2).steps
