"""Money side of runs: books, leads, guarantees, tariffs, and where a user finds them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusal import refusal

from analysis.books import keep_books, lead_over
from analysis.cli import main
from analysis.cost_tables import cost_tables
from analysis.economics import CostModel, Tariff
from analysis.externality import by_length_class, request_shares
from analysis.optimum import optimum
from analysis.prices import Prices, check_tariffs, read_tariffs
from analysis.time_unit import TimeUnit
from policies import FCFS, ISJL, LJF, SJF
from serving_sim import Policy, Run, Workload, simulate
from workloads.adversaries import long_then_short

PRICES = Prices(CostModel(c=7.0, tau=3.0), per_token=20.0)


def served(policy: Policy, lengths: list[int], slots: int = 2) -> Run:
    return simulate(Workload([0] * len(lengths), lengths), policy, slots=slots, record_batches=True)


def test_books_of_a_run_by_hand() -> None:
    # 3 and 1 start together, 2 follows beside the rest of 3: T = 3, Q = 10, E = 2
    books = keep_books([served(FCFS(), [3, 1, 2])], PRICES)
    assert {name: value.value for name, value in books.figures.items()} == {
        "intrinsic_cost": 30.0,
        "time_cost": 21.0,
        "externality_cost": 6.0,
        "cost": 57.0,
        "cost_per_request": 19.0,
        "revenue": 120.0,
        "profit": 63.0,
    }
    assert books.guarantee is None
    assert books.classes is not None
    assert [(each.shortest, each.suffered, each.caused) for each in books.classes] == [
        (1, 0, 0),
        (2, 2, 0),
        (3, 0, 2),
    ]


def test_the_lead_of_static_batching_by_hand() -> None:
    # proposition 5.4 with L = 5: FCFS has T = 5, E = 10; LJF T = 7, E = 0
    workload = long_then_short(5).workload
    fcfs = simulate(workload, FCFS(), slots=2)
    ljf = simulate(workload, LJF(), slots=2, alpha=0)
    lead = lead_over([ljf], [fcfs], PRICES)
    assert (lead.saved_steps.value, lead.added_externality.value) == (-2.0, -30.0)
    assert lead.profit.value == 3 * 10 - 7 * 2
    assert lead.promised is not None
    assert lead.promised.value == lead.profit.value  # alpha = 0 promises E = 0
    assert lead.break_even == 15.0
    books = keep_books([ljf], PRICES)
    assert books.guarantee is not None
    assert books.guarantee.least_steps.value == 7  # at alpha = 0 nothing beats static batches
    assert (books.guarantee.by_theorem.value, books.guarantee.by_run.value) == (0.0, 0.0)


def test_a_policy_that_broke_its_budget_promises_nothing() -> None:
    fcfs = simulate(long_then_short(5).workload, FCFS(), slots=2, alpha=2)
    assert lead_over([fcfs], [fcfs], PRICES).promised is None
    assert keep_books([fcfs], PRICES).guarantee is None


@given(
    lengths=st.lists(st.integers(1, 9), min_size=1, max_size=6),
    alpha=st.integers(0, 6),
    c=st.integers(0, 30),
)
def test_no_fair_schedule_earns_more_than_the_guarantee_leaves(
    *, lengths: list[int], alpha: int, c: int
) -> None:
    model = CostModel(c=float(c), tau=1.0)
    run = simulate(Workload([0] * len(lengths), lengths), ISJL(alpha), slots=2)
    guarantee = keep_books([run], Prices(model, 0.0)).guarantee
    assert guarantee is not None
    assert guarantee.by_run.value is not None
    assert guarantee.by_theorem.value is not None
    assert guarantee.by_run.value <= guarantee.by_theorem.value + 1e-9
    # the best schedule spends at least c T_OPT
    shortest = int(optimum(lengths, 2, alpha).lower)
    assert c * run.steps + run.externality - c * shortest <= guarantee.by_run.value + 1e-9


def test_replications_have_intervals_and_share_their_classes() -> None:
    rng = np.random.default_rng(0)
    runs = [served(SJF(), rng.integers(1, 50, 40).tolist(), slots=4) for _ in range(3)]
    books = keep_books(runs, PRICES)
    profit = books.figures["profit"]
    assert profit.low is not None
    assert profit.value is not None
    assert profit.low < profit.value
    assert books.classes is not None
    assert sum(each.requests for each in books.classes) == 120
    assert sum(each.suffered for each in books.classes) == sum(run.externality for run in runs)
    assert sum(each.caused for each in books.classes) == sum(run.externality for run in runs)


def test_requests_of_one_length_are_one_class() -> None:
    run = simulate(Workload([0, 1, 2], [4, 4, 4]), FCFS(), slots=2, record_batches=True)
    (only,) = by_length_class(request_shares(run))
    assert (only.shortest, only.longest, only.requests, only.suffered) == (4, 4, 3, run.externality)


def test_tables_say_nothing_where_there_is_nothing_to_say() -> None:
    books = keep_books([simulate(Workload([0], [3]), FCFS(), slots=1)], PRICES)
    assert [table.title for table in cost_tables([books], [], PRICES, TimeUnit("step"))] == [
        "what serving costs and brings, in money"
    ]


def test_tariffs_are_read_and_applied(tmp_path: Path) -> None:
    path = tmp_path / "tariffs.csv"
    path.write_text("tariff,input,output,cached\nlarge,2.5,10,0.25\nsmall,0.5,1.5,\n", encoding="utf-8")
    tariffs = read_tariffs(path)
    assert tariffs == {"large": Tariff(2.5, 10.0, 0.25), "small": Tariff(0.5, 1.5)}
    workload = Workload([0], [3], prompt_tokens=[2], output_tokens=[1])
    run = simulate(workload, FCFS(), slots=1)
    books = keep_books([run], Prices(CostModel(c=0.0, tau=1e-6), 0.0, tariffs))
    assert books.tariffs["large"].value == pytest.approx((2 * 2.5 + 1 * 10 - 6) / 1e6)
    with pytest.raises(ValueError, match=r"^tariffs='large, small': separate prices need a log with prompt"):
        check_tariffs(Prices(PRICES.model, 0.0, tariffs), [Workload([0], [3])])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (" ", "line 1: column 'tariff' is missing, found none"),
        (
            "tariff,input,output\nx,1e101,2\n",
            "line 2, input=1e+101: must be at most 1e+100, sums over a run would overflow",
        ),
        ("tariff,input\nx,1\n", "line 1: column 'output' is missing, found tariff, input"),
        (
            "tariff,input,output\nx,1,free\n",
            "line 2, output='free': must be a number >= 0, in money per million tokens",
        ),
        (
            "tariff,input,output\nx,-1,2\n",
            "line 2, input='-1': must be a number >= 0, in money per million tokens",
        ),
        ("tariff,input,output\nx,1,2\nx,1,2\n", "line 3, tariff='x': must not come twice"),
        ("tariff,input,output\n", "must hold at least one tariff below its header"),
    ],
)
def test_tables_of_tariffs_are_refused_with_their_place(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "tariffs.csv"
    path.write_text(text, encoding="utf-8")
    said = refusal(lambda: read_tariffs(path))
    assert said.startswith(str(path))
    assert said.endswith(message)


def test_a_comparison_tells_its_costs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["compare", "--num-prompts", "200", "--slots", "4", "--alpha", "40", "--policy", "ljf"]
    words += ["--policy", "isjl", "--step-cost", "1", "--token-cost", "0.01"]
    assert main([*words, "--out", str(tmp_path), "-q"]) == 0
    out = capsys.readouterr().out
    assert "what serving costs and brings, in money" in out
    assert "who pays for whom under isjl:alpha=40" in out
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert 'id="costs"' in page
    assert "A step costs c = 1, and tau = 0.01" in page
    costs = json.loads((tmp_path / "compare.json").read_text(encoding="utf-8"))["costs"]
    assert costs["prices"] == {"c": 1.0, "tau": 0.01, "price": 0.002, "tariffs": {}}
    (lead,) = costs["leads"]
    profits = [each["figures"]["profit"]["value"] for each in costs["books"]]
    assert lead["profit"]["value"] == pytest.approx(profits[1] - profits[0])
    summary = json.loads((tmp_path / "isjl-alpha-40" / "summary.json").read_text(encoding="utf-8"))
    assert summary["costs"]["profit"] == pytest.approx(profits[1])
    assert sum(each["caused"] for each in summary["costs"]["classes"]) == summary["E"]
    assert not (tmp_path / "isjl-alpha-40" / "batches.parquet").exists()
    assert main([*words, "--tariffs", str(tmp_path / "none.csv")]) == 2
    assert "none.csv': must be a readable CSV file" in capsys.readouterr().err
