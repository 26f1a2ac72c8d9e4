"""The golden ratio: no online policy can be sure of more (Yao and Zhou, proposition 3.27)."""

from __future__ import annotations

from itertools import chain

import pandas as pd

from analysis.experiments.adversarial import GOLDEN, golden_ratio_curve, play_golden_ratio
from analysis.experiments.reproduce.experiment import Experiment, Item, Results, Settings
from analysis.experiments.reproduce.task import Rows, Task
from analysis.plots.ratios import Line, ratios_against_delay
from analysis.report import Picture, Section
from analysis.tables import Table
from policies import parse_policy

_LENGTHS = (10**2, 10**3, 10**4, 10**5, 10**6)
_ALPHA = 5
_POLICIES = ("fair-fcfs", "fair-lpt", "isjl")

_MEASURES = (
    (
        "What not knowing the future costs. An adversary releases one request of length L and watches. If "
        "the policy starts it at once, a second one follows just too late to join the batch under the "
        "fairness budget, and the policy takes twice as long as it could; if the policy waits for x L, "
        "nothing may follow and it has waited in vain. The ratio is the best makespan over that of the "
        "policy, for the worse of the two continuations: 1 is best."
    ),
    (
        "The curve is that of a policy that waits on purpose, for each L; its peak is the most any "
        "deterministic policy can be sure of. As L grows both its height and its place tend to (sqrt 5 - 1) "
        "/ 2 = 0.618, the golden ratio."
    ),
)


def tasks(_: Settings) -> list[Task]:
    """One task a length."""
    return [
        Task(f"golden-ratio/length-{length}", measure, {"length": length, "alpha": _ALPHA})
        for length in _LENGTHS
    ]


def measure(length: int, alpha: int) -> Rows:
    """The curve of delayed(fair-fcfs), and the policies that do not wait at x = 0."""
    curve = golden_ratio_curve(length, alpha)
    rows: Rows = [
        {"length": length, "policy": "delayed", "x": x, "measured": ratio}
        for x, ratio in zip(curve.x, curve.ratio, strict=True)
    ]
    for text in _POLICIES:
        duel = play_golden_ratio(parse_policy(text, defaults={"alpha": alpha}), length, alpha)
        rows.append({"length": length, "policy": text, "x": 0.0, "measured": duel.ratio[1]})
    return rows


def item(results: Results) -> Item:
    """The curves, their peaks, and the policies that do not wait."""
    frame = pd.DataFrame(list(chain.from_iterable(results.values())))
    curves: dict[str, Line] = {}
    rows, peaks = [], []
    for length, group in frame.groupby("length"):
        curve = group[group["policy"] == "delayed"]
        peak = curve.iloc[int(curve["measured"].argmax())]
        peaks.append(float(peak["measured"]))
        curves[f"L = {length:,}, peak {peak['measured']:.6f}"] = (
            curve["x"].tolist(),
            curve["measured"].tolist(),
        )
        others = group[group["policy"] != "delayed"].set_index("policy")["measured"]
        rows.append(
            (
                f"{length:,}",
                f"{peak['x']:.6f}",
                f"{peak['measured']:.6f}",
                f"{peak['measured'] - GOLDEN:+.1e}",
                *(f"{others[policy]:.6f}" for policy in _POLICIES),
            )
        )
    at_once = frame.loc[frame["policy"] != "delayed", "measured"].tolist()
    header = (
        "L, tokens",
        "best wait x",
        "peak",
        "peak less 0.618034",
        *(f"{each}, x = 0" for each in _POLICIES),
    )
    picture = Picture(
        "golden-ratio",
        "Certain ratio against the wait",
        "One curve a length; left of the peak the second request hurts, right of it the waiting. The points "
        "are fair-fcfs, fair-lpt and isjl, which start at once.",
        ratios_against_delay(curves, GOLDEN, at_once),
    )
    found = [
        (
            f"The peak comes within {abs(peaks[-1] - GOLDEN):.0e} of the golden ratio at L = "
            f"{_LENGTHS[-1]:,}; the difference falls as 1 / L."
        ),
        "Policies that start at once, ISJL among them, are sure of one half only.",
    ]
    table = Table("best makespan over that of the policy", header, rows)
    section = Section("golden-ratio", EXPERIMENT.title, _MEASURES, found, [table], [picture])
    return Item(section, {"golden-ratio": frame})


EXPERIMENT = Experiment("golden-ratio", "The golden ratio: the price of not knowing the future", tasks, item)
