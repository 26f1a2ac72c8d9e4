"""Which experiments there are, and how to run several of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from analysis.experiments.reproduce import (
    demand,
    fig4,
    fig5,
    fig6,
    fig7,
    golden_ratio,
    guarantees,
    nested_frontier,
    pooling,
    table1,
    table2,
    table3,
    who_pays,
)
from analysis.experiments.reproduce.experiment import Experiment, Item, Settings
from analysis.experiments.reproduce.task import Task, collect
from analysis.output import write_text
from analysis.report import Section, sections_page
from serving_sim.arguments import unknown

_MODULES = (
    table1,
    table2,
    fig5,
    fig6,
    who_pays,
    guarantees,
    nested_frontier,
    fig4,
    golden_ratio,
    fig7,
    table3,
    pooling,
    demand,
)

EXPERIMENTS: dict[str, Experiment] = {module.EXPERIMENT.name: module.EXPERIMENT for module in _MODULES}
"""By name, in the order of the page."""

ALL = "all"

_INTRODUCTION = (
    (
        "These are the tables and figures of Yao and Zhou, 'Efficiency and Cost Alignment in Batched LLM "
        "Serving via Resource-Fair Scheduling', simulated again. A worker serves language-model requests in "
        "batches: in every step each request of the batch gets one more token. Who may join the batch and "
        "when is the policy's choice. The paper's policy, ISJL, keeps the progress of any two requests in a "
        "batch within alpha tokens of each other."
    ),
    (
        "Each section says what is measured and in which unit, what was found, and shows the numbers of "
        "the paper beside those measured here. 'Within noise' means that a single experiment of the paper's "
        "size could have given its number; 'differs' means that it could not."
    ),
)


def find(name: str) -> list[Experiment]:
    """The experiments that a name stands for.

    Raises
    ------
    ValueError
        If there is no such experiment.
    """
    if name == ALL:
        return list(EXPERIMENTS.values())
    if name not in EXPERIMENTS:
        raise ValueError(unknown("experiment", name, [*EXPERIMENTS, ALL]))
    return [EXPERIMENTS[name]]


def count_tasks(experiments: Sequence[Experiment], settings: Settings) -> int:
    """Pieces of work, each counted once however many experiments share it."""
    return len({task.name for experiment in experiments for task in experiment.tasks(settings)})


def reproduce(
    experiments: Sequence[Experiment],
    settings: Settings,
    *,
    folder: Path,
    jobs: int,
    done: Callable[[str], None],
) -> Iterator[Item]:
    """Run experiments one after the other and write each as soon as it is finished.

    Parameters
    ----------
    experiments : sequence of Experiment
        What to run; tasks that several share are done once.
    settings : Settings
        How much to simulate.
    folder : Path
        Where CSV files and pictures go, and in ``kept`` the results of tasks: what is there from an
        earlier run with the same settings is not computed again.
    jobs : int
        Processes.
    done : callable
        Told the name of each task that is done.
    """
    results: dict[str, list[dict[str, object]]] = {}
    for experiment in experiments:
        wanted: Sequence[Task] = experiment.tasks(settings)
        missing = [task for task in wanted if task.name not in results]
        results |= collect(missing, folder=folder / "kept", jobs=jobs, done=done)
        item = experiment.item({task.name: results[task.name] for task in wanted})
        item.write(folder)
        yield item


def write_page(sections: Sequence[Section], settings: Settings, *, folder: Path, command: str) -> Path:
    """Write the page that holds all sections, and return where it is."""
    facts = {
        "Command": command,
        "Seed": str(settings.seed),
        "Sets of five replications": str(settings.sets),
        "Replications with arrivals": str(settings.replications),
    }
    title = "The paper's experiments, reproduced"
    path = folder / "report.html"
    write_text(path, sections_page(title, sections, introduction=_INTRODUCTION, facts=facts))
    return path
