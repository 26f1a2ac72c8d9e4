"""Words that a shell can complete: names that options take, and the request of the shell itself.

A shell asks at every press of a key, so what takes a second to import is not asked for its names.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typer._click.core import Command

Complete = Callable[[str], list[str]]
"""Gives the words that begin like what has been typed so far."""

PROGRAM = "serving-sim"
_REQUEST = "_SERVING_SIM_COMPLETE"
"""Environment variable in which the shell says what it wants, as its script has it."""

ADVERSARIES = (
    "golden-ratio",
    "over-inserting",
    "under-inserting",
    "jigsaw",
    "long-then-short",
    "static-waste",
    "search",
    "worst-by-slots",
)
EXPERIMENTS = (
    *("table1", "table2", "table3", "fig4", "fig5", "fig6", "fig7", "golden-ratio"),
    *("who-pays", "guarantees", "nested-frontier", "pooling", "demand", "all"),
)


def answer_shell(command: Command) -> None:
    """Answer a shell that asks how a line may go on, and end; return where none asks.

    Raises
    ------
    SystemExit
        With the answer printed.
    """
    request = os.environ.get(_REQUEST)
    if request:
        from typer.completion import shell_complete

        if request == "complete_bash":
            _drop_equals_signs()
        raise SystemExit(shell_complete(command, {}, PROGRAM, _REQUEST, request))


def _drop_equals_signs() -> None:
    """Make ``--policy isjl`` of ``--policy=isjl``, which bash hands over as three words."""
    words = os.environ.get("COMP_WORDS", "").split("\n")
    current = int(os.environ.get("COMP_CWORD", "0"))
    signs = [
        place
        for place, (before, word) in enumerate(pairwise(words), 1)
        if word == "=" and before.startswith("--")
    ]
    os.environ["COMP_WORDS"] = "\n".join(word for place, word in enumerate(words) if place not in signs)
    os.environ["COMP_CWORD"] = str(current - sum(place < current for place in signs))


def adversary(incomplete: str) -> list[str]:
    """Names of `analysis.experiments.adversarial`."""
    return _beginning(incomplete, ADVERSARIES)


def instance(incomplete: str) -> list[str]:
    """Adversaries that are one instance, not a search."""
    return _beginning(incomplete, ADVERSARIES[:-2])


def experiment(incomplete: str) -> list[str]:
    """Names of `analysis.experiments.reproduce`."""
    return _beginning(incomplete, EXPERIMENTS)


def policy(incomplete: str) -> list[str]:
    """Policies, built in and installed."""
    from policies.registry import policy_names

    return _beginning(incomplete, policy_names())


def preset(incomplete: str) -> list[str]:
    """Presets of workloads."""
    from workloads import PRESETS

    return _beginning(incomplete, PRESETS)


def trace_format(incomplete: str) -> list[str]:
    """Formats of request logs."""
    from workloads.traces.formats import FORMATS

    return _beginning(incomplete, ("auto", *FORMATS.targets))


def lengths(incomplete: str) -> list[str]:
    """Length distributions."""
    from workloads.lengths import LENGTHS

    return _beginning(incomplete, LENGTHS.targets)


def arrivals(incomplete: str) -> list[str]:
    """Arrival processes."""
    from workloads.arrivals.catalogue import ARRIVALS

    return _beginning(incomplete, ARRIVALS.targets)


def predictions(incomplete: str) -> list[str]:
    """Prediction models."""
    from workloads.predictions import PREDICTIONS

    return _beginning(incomplete, PREDICTIONS.targets)


def request_metric(incomplete: str) -> list[str]:
    """A metric with a value a request."""
    from analysis.definitions import REQUEST_METRICS

    return _beginning(incomplete, (each.key for each in REQUEST_METRICS))


def request_metrics(incomplete: str) -> list[str]:
    """Such metrics with commas between them."""
    return _last_of_list(incomplete, request_metric)


def metrics(incomplete: str) -> list[str]:
    """Metrics of requests and of runs, with commas between them."""
    from analysis.definitions import REQUEST_METRICS, RUN_METRICS

    keys = [each.key for each in (*REQUEST_METRICS, *RUN_METRICS)]
    return _last_of_list(incomplete, lambda last: _beginning(last, keys))


def _beginning(incomplete: str, words: Iterable[str]) -> list[str]:
    return [word for word in words if word.startswith(incomplete)]


def _last_of_list(incomplete: str, complete: Complete) -> list[str]:
    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{word}" for word in complete(last)]
