"""Policies by name and text."""

from __future__ import annotations

import re

import pytest

from policies import FCFS, ISJL, catalogue, make_policy, parse_policy


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
        ("fcsf", "policy 'fcsf': no such policy, did you mean 'fcfs'? Known: "),
        ("isjl", "policy isjl: needs a value for alpha"),
        ("isjl:alpha", "policy 'isjl:alpha': 'alpha' must read key=value"),
        ("isjl:alpha=4,alpha=5", "policy 'isjl:alpha=4,alpha=5': alpha is set twice"),
        ("isjl:alpha=-1", "alpha=-1: must be a whole number of tokens >= 0"),
        ("isjl:alpha=1.5", "alpha=1.5: must be a whole number of tokens >= 0"),
        ("isjl:alpha=4,gamma=1", "policy isjl: unknown parameter 'gamma', it takes alpha, beta"),
        ("fcfs:alpha=4", "policy fcfs: unknown parameter 'alpha', it takes no parameters"),
        ("delayed:x=1", "policy delayed: needs a value for inner"),
        ("delayed:x=1,inner=nobody", "policy 'nobody': no such policy. Known: "),
        ("no.such.module:Thing", "policy 'no.such.module:Thing': cannot load no.such.module:Thing: "),
        ("policies.continuous:Thing", "policy 'policies.continuous:Thing': cannot load "),
        ("fair-fcfs", "policy fair-fcfs: needs a value for alpha"),
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
