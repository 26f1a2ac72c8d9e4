"""Figure 7: how long the requests of the efficiency experiment are."""

from __future__ import annotations

from itertools import chain

import numpy as np
import pandas as pd

from analysis.experiments.paper import LENGTHS
from analysis.experiments.reproduce.experiment import Experiment, Item, Results, Settings
from analysis.experiments.reproduce.noise import REPRODUCED, over_sets
from analysis.experiments.reproduce.table1 import cell
from analysis.experiments.reproduce.task import Rows, Task
from analysis.plots.histogram import histogram
from analysis.report import Picture, Section
from analysis.tables import Table
from workloads.lengths import LmsysLike

_SAMPLE = 2000
_WIDTH = 25
_EDGES = np.arange(0, 925 + 1, _WIDTH)
_UNITS = {"mean": "tokens", "median": "tokens", "max": "tokens", "variance": "tokens squared"}

_MEASURES = (
    (
        "How many tokens the 2,000 conversations have that the paper draws from a public collection of "
        "chats, prompt and answer together. The paper prints four numbers of its sample; the project "
        "draws lengths from a distribution made to fit them (one plus a negative binomial, cut at 905 "
        "tokens), so that samples of any size can be made."
    ),
)


def tasks(settings: Settings) -> list[Task]:
    """One task for all samples."""
    arguments = {"seed": settings.seed, "samples": settings.sets, "size": _SAMPLE}
    return [Task("fig7/samples", draw, arguments)]


def draw(seed: int, samples: int, size: int) -> Rows:
    """Four numbers and the histogram of each sample."""
    rows: Rows = []
    for stream in np.random.SeedSequence(seed).spawn(samples):
        lengths = LmsysLike().sample(size, np.random.default_rng(stream))
        rows.append(
            {
                "mean": float(lengths.mean()),
                "median": float(np.median(lengths)),
                "max": int(lengths.max()),
                "variance": float(lengths.var(ddof=1)),
                "counts": np.histogram(lengths, _EDGES)[0].tolist(),
            }
        )
    return rows


def item(results: Results) -> Item:
    """The four numbers beside the paper's, and the mean histogram."""
    samples = pd.DataFrame(list(chain.from_iterable(results.values())))
    rows = []
    for name, paper in LENGTHS.items():
        measured = over_sets(samples[name].astype(float).tolist())
        rows.append(
            {
                "statistic": name,
                "unit": _UNITS[name],
                "paper": paper,
                "measured": measured.value,
                "low": measured.low,
                "high": measured.high,
                "set_low": measured.set_low,
                "set_high": measured.set_high,
                "verdict": measured.verdict(paper),
                "cell": cell(measured, paper),
            }
        )
    frame = pd.DataFrame(rows)
    counts = np.mean(samples["counts"].tolist(), axis=0)
    shares = pd.DataFrame({"from": _EDGES[:-1] + 1, "to": _EDGES[1:], "requests": counts})
    picture = Picture(
        "fig7",
        "Lengths of the requests",
        f"Requests of a sample of {_SAMPLE:,} by length, in classes of {_WIDTH} tokens, mean of all samples.",
        histogram(_EDGES.tolist(), counts.tolist(), "request length (tokens)", "requests"),
    )
    table = Table(
        "measured ± half of a 95 % interval (paper)",
        ("of a sample of 2,000", "value", "unit", "verdict"),
        [[str(row[key]) for key in ("statistic", "cell", "unit", "verdict")] for row in rows],
    )
    agree = int((frame["verdict"] == REPRODUCED).sum())
    found = [
        f"{agree} of the paper's 4 numbers lie within what {len(samples)} samples of the generator give."
    ]
    section = Section("fig7", EXPERIMENT.title, _MEASURES, found, [table], [picture])
    return Item(section, {"fig7": frame.drop(columns="cell"), "fig7-histogram": shares})


EXPERIMENT = Experiment("fig7", "Figure 7: lengths of the requests", tasks, item)
