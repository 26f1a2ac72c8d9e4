"""Table 3: throughput and end-to-end latency on chat lengths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, combinations

import numpy as np
import pandas as pd

from analysis.estimate import Estimate
from analysis.experiments.paper import TABLE3, TABLE3_POLICIES
from analysis.experiments.reproduce.experiment import Experiment, Item, Results, Settings
from analysis.experiments.reproduce.task import Rows, Task
from analysis.plots.load_curves import load_curves
from analysis.replications import interval
from analysis.report import Picture, Section
from analysis.tables import Table
from analysis.text import number, with_interval
from policies import parse_policy
from serving_sim import StepTime, simulate
from workloads import make_workload
from workloads.arrivals import Backlog, Poisson, rate_for_load
from workloads.lengths import LmsysLike

SLOTS = (16, 32)
LOADS = (0.5, 0.7, 0.8, 0.9, 1.0, 1.2)
MAX_DRIVEN = StepTime(base=0.5, per_max_token=0.002)
"""A step lasts one time unit when the longest cache of the batch holds 250 tokens."""

METRICS = {"throughput": "tokens per time unit", "ael": "time units"}
HOLDS, FAILS, OPEN = "holds", "does not hold", "cannot tell apart"

_MEASURES = (
    (
        "How fast a worker serves and how long a request takes from its release to its last token, on "
        "lengths of chats (figure 7), with 16 and 32 slots. Throughput is tokens per time unit over the "
        "time until the last request has finished; the average end-to-end latency (AEL) is in time units."
    ),
    (
        "The paper states neither the unit of time nor when requests arrive, and 216 tokens per unit of "
        "time cannot be in steps, since 16 slots make at most 16 tokens a step. So values cannot be "
        "compared, only orderings: which policy is better than which. They are tested in three settings: "
        "a backlog, with all requests there at the start and a step as the unit of time; Poisson arrivals "
        "at several loads, load 1 being what full slots can serve; and the same arrivals where a step "
        "takes longer the longer the longest cache in the batch is (0.5 + 0.002 per token)."
    ),
    (
        "Every policy serves the same requests, so differences are paired by replication. An ordering "
        "holds if the 95 % interval of the difference lies on the paper's side of zero, does not hold if "
        "it lies on the other side, and cannot be told apart if it contains zero."
    ),
    (
        "As in the paper a run is finite: so many requests from an empty system on, served to the last. An "
        "interval is one of the mean over such runs, which exists whether the queue grows or not. Where it "
        "grows, as from load 1 on, and for fair policies below, longer runs have other means: no number "
        "here is then a value in the long run."
    ),
)


@dataclass(frozen=True)
class Setting:
    """Arrivals and step time of one column: a backlog where the load is None."""

    name: str
    load: float | None
    step_time: StepTime

    @property
    def label(self) -> str:
        """As the tables write it."""
        return self.name if self.load is None else f"{self.name} {self.load:g}"


SETTINGS = (
    Setting("backlog", None, StepTime()),
    *(Setting("load", load, StepTime()) for load in LOADS),
    *(Setting("max-driven, load", load, MAX_DRIVEN) for load in LOADS),
)


def tasks(settings: Settings) -> list[Task]:
    """One task a number of slots and replication."""
    return [
        Task(
            f"table3/slots-{slots}-replication-{place:02}",
            serve,
            {"seed": settings.seed, "place": place, "slots": slots, "requests": settings.requests},
        )
        for slots in SLOTS
        for place in range(settings.replications)
    ]


def serve(seed: int, place: int, slots: int, requests: int) -> Rows:
    """All policies in all settings on one sample of lengths, one row each."""
    rows: Rows = []
    for setting in SETTINGS:
        lengths = LmsysLike()
        arrivals = (
            Backlog()
            if setting.load is None
            else Poisson(rate_for_load(setting.load, slots=slots, mean_length=lengths.mean))
        )
        # the same seed in every setting: the same lengths, and the same gaps but for their scale
        seeds = np.random.SeedSequence(seed, spawn_key=(place,))
        workload = make_workload(requests, lengths, arrivals, seeds)
        for policy in TABLE3_POLICIES:
            run = simulate(workload, parse_policy(policy), slots=slots, step_time=setting.step_time)
            rows.append(
                {
                    "setting": setting.name,
                    "load": setting.load,
                    "slots": slots,
                    "replication": place,
                    "policy": policy,
                    "throughput": run.throughput,
                    "ael": float(np.mean(run.finish - workload.release)),
                }
            )
    return rows


def item(results: Results) -> Item:
    """The table in every setting, and every ordering of the paper."""
    runs = _Runs(pd.DataFrame(list(chain.from_iterable(results.values()))))
    cells = pd.DataFrame(
        [
            runs.cell(setting, slots, metric, policy)
            for setting in SETTINGS
            for slots in SLOTS
            for metric in METRICS
            for policy in TABLE3_POLICIES
        ]
    )
    orderings = pd.DataFrame(
        [
            runs.ordering(setting, slots, metric, *pair)
            for slots in SLOTS
            for metric in METRICS
            for pair in combinations(_ranking(slots, metric), 2)
            for setting in SETTINGS
        ]
    )
    tables = [
        *(_values(cells, slots, metric) for slots in SLOTS for metric in METRICS),
        *(_orderings(orderings, slots, metric) for slots in SLOTS for metric in METRICS),
    ]
    pictures = [_picture(cells, slots) for slots in SLOTS]
    section = Section("table3", EXPERIMENT.title, _MEASURES, _found(orderings), tables, pictures)
    return Item(section, {"table3": cells, "table3-orderings": orderings})


class _Runs:
    """Results with one value a replication, looked up by setting, slots, policy and metric."""

    def __init__(self, frame: pd.DataFrame) -> None:
        keys = ["setting", "load", "slots", "policy"]
        frame = frame.sort_values("replication")
        groups = frame.fillna({"load": 0.0}).groupby(keys)[list(METRICS)]
        self._values = {key: group for key, group in groups}  # noqa: C416  (a GroupBy is no mapping)

    def series(self, setting: Setting, slots: int, metric: str, policy: str) -> Sequence[float]:
        key = (setting.name, setting.load or 0.0, slots, policy)
        return [float(value) for value in self._values[key][metric]]

    def cell(self, setting: Setting, slots: int, metric: str, policy: str) -> dict[str, object]:
        measured = interval(self.series(setting, slots, metric, policy))
        return {
            "setting": setting.label,
            "slots": slots,
            "metric": metric,
            "unit": METRICS[metric],
            "policy": policy,
            "paper": TABLE3[slots, metric][policy],
            "measured": measured.value,
            "low": measured.low,
            "high": measured.high,
        }

    def ordering(
        self, setting: Setting, slots: int, metric: str, worse: str, better: str
    ) -> dict[str, object]:
        """By how much per cent ``better`` is above ``worse``, in the paper and here."""
        low = np.array(self.series(setting, slots, metric, worse))
        high = np.array(self.series(setting, slots, metric, better))
        difference = interval(((high - low) / low.mean() * 100).tolist())
        paper = TABLE3[slots, metric]
        return {
            "slots": slots,
            "metric": metric,
            "smaller": worse,
            "larger": better,
            "setting": setting.label,
            "paper": 100 * (paper[better] / paper[worse] - 1),
            "difference": difference.value,
            "low": difference.low,
            "high": difference.high,
            "verdict": _verdict(difference),
        }


def _ranking(slots: int, metric: str) -> list[str]:
    """Policies from the smallest value of the paper to the largest."""
    paper = TABLE3[slots, metric]
    return sorted(paper, key=paper.__getitem__)


def _verdict(difference: Estimate) -> str:
    assert difference.value is not None
    if not difference.excludes_zero:
        return OPEN
    return HOLDS if difference.value > 0 else FAILS


def _values(cells: pd.DataFrame, slots: int, metric: str) -> Table:
    chosen = cells[(cells["slots"] == slots) & (cells["metric"] == metric)]
    rows = [
        ("paper, unit unknown", *(number(TABLE3[slots, metric][policy]) for policy in TABLE3_POLICIES)),
        *(
            (
                str(setting),
                *(
                    with_interval(Estimate(*row))
                    for row in group[["measured", "low", "high"]].itertuples(index=False)
                ),
            )
            for setting, group in chosen.groupby("setting", sort=False)
        ),
    ]
    name = "throughput" if metric == "throughput" else "average end-to-end latency"
    return Table(
        f"{slots} slots, {name} in {METRICS[metric]}, ± half of a 95 % interval over finite runs",
        ("setting", *TABLE3_POLICIES),
        rows,
    )


_MARKS = {HOLDS: "", FAILS: " no", OPEN: " ~"}


def _orderings(orderings: pd.DataFrame, slots: int, metric: str) -> Table:
    chosen = orderings[(orderings["slots"] == slots) & (orderings["metric"] == metric)]
    rows = []
    for (smaller, larger), group in chosen.groupby(["smaller", "larger"], sort=False):
        cells = [
            f"{difference:+.1f}{_MARKS[verdict]}"
            for difference, verdict in group[["difference", "verdict"]].itertuples(index=False)
        ]
        rows.append((f"{larger} > {smaller}", f"{group['paper'].iloc[0]:+.1f}", *cells))
    name = "throughput" if metric == "throughput" else "average end-to-end latency"
    title = (
        f"{slots} slots, orderings of {name}: by how much per cent the first exceeds the second; no: does "
        "not hold, ~: cannot be told apart"
    )
    return Table(title, ("ordering", "paper", *(setting.label for setting in SETTINGS)), rows)


def _found(orderings: pd.DataFrame) -> list[str]:
    found = []
    for setting, group in orderings.groupby("setting", sort=False):
        counts = group["verdict"].value_counts()
        found.append(
            f"{setting}: of the {len(group)} orderings of the paper {counts.get(HOLDS, 0)} hold, "
            f"{counts.get(FAILS, 0)} do not, {counts.get(OPEN, 0)} cannot be told apart."
        )
    isjl = orderings["larger"].str.startswith("isjl") & (orderings["metric"] == "throughput")
    for baseline in ("ljf", "fcfs", "sjf"):
        claim = orderings[isjl & (orderings["smaller"] == baseline)]
        share = float((claim["verdict"] == HOLDS).mean())
        found.append(
            f"That ISJL has more throughput than {baseline.upper()}, for any alpha and any number of "
            f"slots, holds in {100 * share:.0f} % of the {len(claim)} cases over all settings."
        )
    return found


def _picture(cells: pd.DataFrame, slots: int) -> Picture:
    panels = {}
    for name, label in (("load", "constant steps"), ("max-driven, load", "max-driven steps")):
        chosen = cells[
            (cells["slots"] == slots)
            & (cells["metric"] == "ael")
            & cells["setting"].isin([f"{name} {load:g}" for load in LOADS])
        ]
        panels[label] = {
            str(policy): (LOADS, group["measured"].astype(float).tolist())
            for policy, group in chosen.groupby("policy", sort=False)
        }
    return Picture(
        f"table3-{slots}-slots",
        f"Average end-to-end latency against load, {slots} slots",
        "One line a policy; left every step takes one time unit, right steps take longer with a longer "
        "cache. Where a line rises steeply the policy no longer keeps up with the arrivals.",
        load_curves(panels, "average end-to-end latency (time units)"),
    )


EXPERIMENT = Experiment("table3", "Table 3: throughput and latency on chat lengths", tasks, item)
