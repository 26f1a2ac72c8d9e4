"""Policies by name and text."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from refusal import refusal

from policies import FCFS, ISJL, Delayed, Fair, catalogue, make_policy, modules_of, parse_policy


@pytest.mark.parametrize(
    ("text", "described"),
    [
        ("fcfs", "fcfs"),
        ("isjl", "isjl:alpha=4"),
        ("isjl:alpha=7,beta=optimal", "isjl:alpha=7,beta=optimal"),
        ("fair-sjf", "fair-sjf:alpha=4"),
        ("delayed:x=0.618,inner=fair-fcfs", "delayed:x=0.618,inner=(fair-fcfs:alpha=4)"),
        ("windowed:w=3,inner=(isjl:alpha=9,beta=2)", "windowed:w=3.0,inner=(isjl:alpha=9,beta=2)"),
        ("fair-windowed:w=2,inner=lpt", "fair:inner=(windowed:w=2.0,inner=(lpt)),alpha=4"),
        ("bucketed:k=3", "bucketed:k=3"),
        ("policies.continuous:SJF", "sjf"),
    ],
)
def test_a_text_names_a_policy_and_the_policy_describes_itself(text: str, described: str) -> None:
    policy = parse_policy(text, defaults={"alpha": 4})
    assert policy.describe() == described
    assert parse_policy(described).describe() == described


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("fcsf", "policy='fcsf': is unknown; did you mean 'fcfs'? known: "),
        ("isjl", "policy isjl: needs a value for alpha, as in isjl:alpha=.."),
        ("isjl:alpha", "policy 'isjl:alpha': 'alpha' must read key=value"),
        ("isjl:alpha=4,alpha=5", "policy 'isjl:alpha=4,alpha=5': 'alpha' is set twice"),
        ("isjl:alpha=-1", "alpha=-1: must be a whole number of tokens >= 0"),
        ("isjl:alpha=1.5", "alpha=1.5: must be a whole number of tokens >= 0"),
        ("isjl:alpha=4,gamma=1", "policy isjl: parameter='gamma': is unknown; known: alpha, beta"),
        ("fcfs:alpha=4", "policy fcfs: parameter='alpha': is unknown; known: none"),
        ("delayed:x=1", "policy delayed: needs a value for inner, as in delayed:inner=.."),
        ("delayed:x=1,inner=nobody", "policy='nobody': is unknown; known: "),
        ("no\nsuch.module:Thing", "policy='no\\nsuch.module:Thing': is unknown; known: "),
        ("no.such.module:Thing", "policy 'no.such.module:Thing': cannot load no.such.module:Thing: "),
        ("policies.continuous:Thing", "policy 'policies.continuous:Thing': cannot load "),
        ("fair-fcfs", "policy fair-fcfs: needs a value for alpha, as in fair-fcfs:alpha=.."),
    ],
)
def test_a_bad_text_is_refused_in_one_line(text: str, message: str) -> None:
    with pytest.raises(ValueError, match="^" + re.escape(message)) as refusal:
        parse_policy(text)
    assert "\n" not in str(refusal.value)


def test_make_policy_takes_policies_and_texts_as_inner() -> None:
    by_text = make_policy("delayed", x=0.618, inner="fair-fcfs", alpha=4)
    by_object = make_policy("delayed", x=0.618, inner=make_policy("fair-fcfs", alpha=4))
    assert by_text.describe() == by_object.describe()
    assert isinstance(make_policy("fcfs"), FCFS)
    assert isinstance(make_policy("isjl", alpha=3), ISJL)


def test_every_listed_policy_has_a_summary_and_names_its_parameters() -> None:
    listed = {entry.name: entry for entry in catalogue()}
    assert {"fcfs", "sjf", "lpt", "ljf", "bucketed", "delayed", "windowed"} <= listed.keys()
    assert {"isjl", "robust-isjl", "isjl-as-printed", "fair-fcfs", "fair-sjf", "fair-lpt"} <= listed.keys()
    assert listed["isjl"].parameters == ("alpha", "beta=None")
    assert all(entry.summary.endswith(".") for entry in listed.values())


MODULE = """\
from serving_sim import Policy
from policies import FCFS

class NoDecide(Policy):
    name = "no-decide"
    def begin(self, slots): ...
    def join(self, request, size, release): ...

class Fails(FCFS):
    def __init__(self, depth: int = 1):
        if depth < 0:
            raise ValueError(f"depth={depth!r}: must be >= 0")
        {}["missing"]

class NotOne:
    pass

def function():
    return FCFS()
"""


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("NoDecide", "must define decide"),
        ("NotOne", "must be a class derived from serving_sim.Policy"),
        ("function", "must be a class derived from serving_sim.Policy"),
        ("Policy", "must define begin, decide, join"),
    ],
)
def test_what_is_no_policy_is_refused(
    name: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "home_made_policies.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    target = f"home_made_policies:{name}"
    assert refusal(lambda: parse_policy(target)) == f"policy {target!r}: {target} {message}"


@pytest.mark.parametrize(
    ("parameters", "message"),
    [("", "KeyError: 'missing'"), (":depth=-1", "ValueError: depth=-1: must be >= 0")],
)
def test_a_constructor_that_fails_is_named(
    parameters: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "home_made_policies.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    text = f"home_made_policies:Fails{parameters}"
    assert refusal(lambda: parse_policy(text)) == (
        f"policy 'home_made_policies:Fails': cannot be made: {message}"
    )


def test_a_name_that_cannot_be_shown_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "from policies import FCFS\nclass Loud(FCFS):\n    name = 'a\\x1b[2J'\n"
    (tmp_path / "loud_policies.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    assert refusal(lambda: parse_policy("loud_policies:Loud")) == (
        "policy 'loud_policies:Loud': its name 'a\\x1b[2J' has characters that cannot be shown"
    )


@pytest.mark.parametrize(
    ("module", "text", "said"),
    [
        ("broken_policies", "1 / 0\n", "ZeroDivisionError: division by zero"),
        ("leaving_policies", "import sys\nsys.exit(0)\n", "SystemExit: 0"),
    ],
)
def test_a_module_that_fails_is_named(
    module: str, text: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / f"{module}.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    assert refusal(lambda: parse_policy(f"{module}:Any")) == (
        f"policy '{module}:Any': cannot load {module}:Any: {said}"
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: make_policy(3), "name=3: must be a text such as 'fcfs'"),  # type: ignore[arg-type]
        (lambda: parse_policy(None), "text=None: must be a text such as 'isjl:alpha=4'"),  # type: ignore[arg-type]
        (
            lambda: Fair("fcfs", 3),  # type: ignore[arg-type]
            "inner='fcfs': must be a Policy, as make_policy gives it",
        ),
        (
            lambda: Delayed(FCFS, 1.0),  # type: ignore[arg-type]
            "inner=the class FCFS: must be a Policy, as make_policy gives it",
        ),
    ],
)
def test_arguments_of_another_kind_are_named(call: Callable[[], object], message: str) -> None:
    with pytest.raises(TypeError) as caught:
        call()
    assert str(caught.value) == message


def test_numbers_of_numpy_are_numbers_and_truth_values_are_none() -> None:
    assert ISJL(np.int64(3), beta=np.int64(2)).describe() == "isjl:alpha=3,beta=2"  # type: ignore[arg-type]
    assert ISJL(4, beta=np.float32(2.5)).describe() == "isjl:alpha=4,beta=2"  # type: ignore[arg-type]
    assert Delayed(FCFS(), np.float64(0.5)).x == 0.5
    for truth in (True, np.True_):
        assert refusal(lambda: ISJL(4, beta=truth)) == (  # type: ignore[arg-type]  # noqa: B023
            f"beta={truth!r}: must be 'optimal' or a number from 0 to 2 alpha = 8"
        )
        assert refusal(lambda: ISJL(truth)) == (  # type: ignore[arg-type]  # noqa: B023
            f"alpha={truth!r}: must be a whole number of tokens >= 0"
        )
        assert refusal(lambda: Delayed(FCFS(), truth)) == (  # type: ignore[arg-type]  # noqa: B023
            f"x={truth!r}: must be a finite number >= 0"
        )
    assert refusal(lambda: Delayed(FCFS(), 10**400)).endswith(": must be a finite number >= 0")


@pytest.mark.parametrize(
    ("text", "modules"),
    [
        ("isjl:alpha=4", set()),
        ("no-such:thing=1", set()),
        ("a.b:C:x=1", {"a.b"}),
        ("delayed:x=1,inner=(windowed:w=2,inner=(a:B:x=(c:D)))", {"a"}),
        ("a:B:inner=(c:D)", {"a", "c"}),
    ],
)
def test_modules_whose_code_a_text_runs(text: str, modules: set[str]) -> None:
    assert modules_of(text) == modules


def test_a_text_nested_too_deeply_is_refused() -> None:
    text = "fcfs"
    for _ in range(9):
        text = f"delayed:x=1,inner=({text})"
    assert isinstance(parse_policy(text, {"alpha": 4}), Delayed)
    many = "delayed:x=1,inner=(" * 3000 + "fcfs" + ")" * 3000
    for deeper, read in product((f"delayed:x=1,inner=({text})", many), (parse_policy, modules_of)):
        with pytest.raises(
            ValueError, match=r"^policy 'delayed:.*'\.\.: must not nest more than 10 policies$"
        ):
            read(deeper)
