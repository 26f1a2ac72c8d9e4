"""What the worker says of a policy that breaks the contract, word for word."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

import pytest
from plain_policy import Plain

from serving_sim import Admission, Epoch, Policy, PolicyError, Workload, simulate
from serving_sim.testing import INSTANCES, Checked, check_policy

WORKLOAD = Workload(release=[0, 0, 1.5], length=[3, 5, 4])
LEFT = "3 requests still wait, the worker is empty and nothing is left that could wake the policy"
HANGS = (
    "3 requests still wait, and the policy has asked to be woken 100,000 times in a row without admitting one"
)

Decide = Callable[[Plain, Epoch], object]


@pytest.mark.parametrize(
    ("decide", "message"),
    [
        (
            lambda _, __: [(0, 0), (2, 1)],
            "policy plain at time 0.0: request 2 cannot be admitted, it was not released yet",
        ),
        (
            lambda _, __: [(-1, 0)],
            "policy plain at time 0.0: request -1 cannot be admitted, there is no such request",
        ),
        (
            lambda _, __: [(0, 0), (0, 1)],
            "policy plain at time 0.0: request 0 cannot be admitted, it was admitted before",
        ),
        (
            lambda _, epoch: [(0, epoch.free[0])],
            "policy plain at time 2.0: request 0 cannot be admitted, it was admitted before",
        ),
        (
            lambda plain, _: [(plain.waiting.pop(0)[0], 0)],
            "policy plain at time 2.0: request 1 cannot take slot 0, it is not free",
        ),
        (
            lambda _, __: [(0, 0), (1, 0)],
            "policy plain at time 0.0: request 1 cannot take slot 0, it is not free",
        ),
        (
            lambda _, __: [(0, 2)],
            "policy plain at time 0.0: request 0 cannot take slot 2, it is not one of 0..1",
        ),
        (
            lambda _, __: [(0, -1)],
            "policy plain at time 0.0: request 0 cannot take slot -1, it is not one of 0..1",
        ),
        (
            lambda _, epoch: [(0, epoch.lowest(-1)[0])],
            "policy plain at time 0.0: lowest: count=-1 must be >= 0",
        ),
        (
            lambda _, __: (),
            f"policy plain at time 1.5: {LEFT}",
        ),
        (
            lambda _, epoch: epoch.wake_at(epoch.now + 0.25) or (),
            f"policy plain at time 25001.5: {HANGS}",
        ),
    ],
)
def test_broken_rule_is_named(decide: Decide, message: str) -> None:
    assert refusal(decide) == message


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        (None, "None"),
        (5, "5"),
        ("ab", "'ab'"),
        ([0], "[0]"),
        ([(0,)], "[(0,)]"),
        ([(0, 0, 0)], "[(0, 0, 0)]"),
        ([("0", 0)], "[('0', 0)]"),
        ([(0.5, 0)], "[(0.5, 0)]"),
        ([(None, 0)] * 20, str([(None, 0)] * 20)[:80]),
    ],
)
def test_answer_of_a_wrong_form_is_shown(answer: object, found: str) -> None:
    assert refusal(lambda _, __: answer) == (
        "policy plain at time 0.0: the answer must be a sequence of (request, slot) pairs of whole numbers, "
        f"found {found}"
    )


def test_generator_is_no_sequence() -> None:
    assert refusal(lambda plain, epoch: (pair for pair in plain.admit(epoch))).startswith(
        "policy plain at time 0.0: the answer must be a sequence of (request, slot) pairs of whole numbers, "
        "found <generator object "
    )


@pytest.mark.parametrize("error", [StopIteration, TypeError, KeyError])
def test_error_inside_the_policy_stays_what_it_is(error: type[Exception]) -> None:
    def decide(_: Plain, __: Epoch) -> object:
        raise error("mine")

    with pytest.raises(error, match="mine"):
        serve(decide)


def serve(decide: Decide) -> None:
    class Broken(Plain):
        def decide(self, epoch: Epoch) -> Sequence[Admission]:
            return cast("Sequence[Admission]", decide(self, epoch))

    simulate(WORKLOAD, Broken(), slots=2)


def refusal(decide: Decide) -> str:
    with pytest.raises(PolicyError) as caught:
        serve(decide)
    assert type(caught.value) is PolicyError
    return str(caught.value)


@pytest.mark.parametrize(
    ("decide", "message"),
    [
        (
            lambda _, epoch: epoch.interval(2),
            "policy plain at time 0.0: request 2 has not joined, nothing is known of it",
        ),
        (
            lambda plain, epoch: (epoch.now and epoch.interval(0)) or plain.admit(epoch),
            "policy plain at time 3.0: request 0 has finished, its bounds are no longer kept",
        ),
        (
            lambda _, epoch: epoch.request(2),
            "policy plain at time 0.0: slot 2 is not one of 0..1",
        ),
        (
            lambda _, epoch: epoch.request(-1),
            "policy plain at time 0.0: slot -1 is not one of 0..1",
        ),
        (
            lambda _, epoch: epoch.progress(-1),
            "policy plain at time 0.0: slot -1 is not one of 0..1",
        ),
        (
            lambda _, epoch: epoch.wake_in(0),
            "policy plain at time 0.0: wake_in: steps=0 must be a whole number >= 1",
        ),
        (
            lambda _, epoch: epoch.wake_in(3) or (),
            "policy plain at time 0.0: wake_in: needs a busy batch, the worker is empty",
        ),
        (
            lambda _, epoch: epoch.wake_at(epoch.now) or (),
            "policy plain at time 0.0: wake_at: instant=0.0 must lie in the future",
        ),
    ],
)
def test_questions_about_the_future_and_the_past_are_refused(decide: Decide, message: str) -> None:
    assert refusal(decide) == message


@pytest.mark.parametrize("wake_ups", [3, 4])
def test_so_many_fruitless_wake_ups_are_allowed_and_not_one_more(
    wake_ups: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Hesitant(Plain):
        def decide(self, epoch: Epoch) -> Sequence[Admission]:
            if epoch.now < wake_ups:
                epoch.wake_at(epoch.now + 1)
                return ()
            return self.admit(epoch)

    monkeypatch.setattr("serving_sim.worker._FRUITLESS", 3)
    if wake_ups == 3:
        assert simulate(Workload([0], [1]), Hesitant(), slots=1).start.tolist() == [3.0]
    else:
        with pytest.raises(PolicyError, match=r"asked to be woken 3 times in a row without admitting one$"):
            simulate(Workload([0], [1]), Hesitant(), slots=1)


@pytest.mark.parametrize("alpha", [-1, 2.5, True, "x"])
def test_a_promise_is_a_whole_number_of_tokens(alpha: object) -> None:
    class Promises(Plain):
        def __init__(self) -> None:
            self.alpha = cast("int", alpha)

    for audited in (None, 3):
        with pytest.raises(PolicyError) as caught:
            simulate(WORKLOAD, Promises(), slots=2, alpha=audited)
        assert str(caught.value) == (
            f"policy plain: alpha={alpha!r} must be None or a whole number of tokens >= 0"
        )


class Nameless(Policy):
    """Sets no name, as its author may forget to."""

    def __init__(self, depth: int) -> None:
        self.depth = depth

    def begin(self, slots: int) -> None:
        self.next = 0

    def join(self, request: int, size: int, release: float) -> None:
        pass

    def decide(self, epoch: Epoch) -> Sequence[Admission]:
        self.next += 1
        return [(self.next - 1, epoch.free[0])]


def test_a_policy_without_a_name_goes_by_that_of_its_class() -> None:
    run = simulate(Workload([0], [1]), Checked(Nameless(2)), slots=1)
    assert run.policy == "Nameless:depth=2"
    check_policy(lambda: Nameless(2), instances=INSTANCES[:1])
