"""Arguments of another kind: each is named, with its value and what it must be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest
from refusal import refusal

from workloads import Client, make_workload, parse_arrivals, parse_lengths, read_requests
from workloads.arrivals import (
    Batch,
    Gamma,
    GeometricBatch,
    Hyperexponential,
    MarkovModulatedPoisson,
    PiecewisePoisson,
    Poisson,
    SinusoidalPoisson,
    Weibull,
)
from workloads.lengths import Fixed, Geometric, Listed, Lognormal
from workloads.predictions import Limit, Noise, Quantile, Slack, parse_predictions, predict
from workloads.prompt_output import PromptOutput
from workloads.quantiles import Quantiles
from workloads.shaping import ContextLimit, Head, PromptChunks, Rate, Repeat, Thin, Window

TEXT: Any = "1"
TRUE: Any = True
LENGTHS, ARRIVALS = Fixed(3), Poisson(1)
COUNT, POSITIVE = "must be a whole number >= 1", "must be a finite number > 0"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Poisson(TEXT), f"rate='1': {POSITIVE}"),
        (lambda: Poisson(TRUE), f"rate=True: {POSITIVE}"),
        (lambda: Gamma(1, cast("Any", None)), f"burstiness=None: {POSITIVE}"),
        (lambda: Weibull(1, TEXT), "shape='1': must be a finite number >= 0.1"),
        (lambda: Hyperexponential(1, TEXT), "scv='1': must be a number from 1 to 1e6"),
        (lambda: SinusoidalPoisson(1, TEXT, 9), "swing='1': must be a number from 0 to 1"),
        (lambda: MarkovModulatedPoisson(1, 2, TEXT, 9), "busy='1': must lie strictly between 0 and 1"),
        (
            lambda: MarkovModulatedPoisson(1, TEXT, 0.5, 9),
            "burst='1': must be a number from 1 to 1 / busy, 2",
        ),
        (lambda: Batch(TRUE, 1), f"size=True: {COUNT}"),
        (lambda: GeometricBatch(TEXT, 1), "mean_size='1': must be a number from 1 to 1e9"),
        (lambda: Fixed(TRUE), "length=True: must be a whole number from 1 to 2**62"),
        (lambda: Geometric(TEXT), "mean='1': must be a number from 1 to 1e9"),
        (lambda: Geometric(TRUE), "mean=True: must be a number from 1 to 1e9"),
        (lambda: Lognormal(TEXT, 1), "mean='1': must be a number above 1 and at most 1e6"),
        (lambda: Lognormal(9, TRUE), "sigma=True: must be a number from 0.01 to 4"),
        (lambda: Lognormal(9, cv=TEXT), "cv='1': must be a number from 0.01 to 1000"),
        (lambda: Noise(TRUE), "kappa=True: must be a number above 0 and at most 1"),
        (lambda: Slack(cast("Any", 2.5)), "tokens=2.5: must be a whole number from 0 to 2**60"),
        (lambda: Quantile(TEXT), "q='1': must be a number above 0 and at most 1"),
        (lambda: Limit(cast("Any", 10.5)), "tokens=10.5: must be a whole number from 1 to 2**62"),
        (lambda: Head(cast("Any", 2.5)), f"count=2.5: {COUNT}"),
        (lambda: Repeat(cast("Any", 2.5)), f"times=2.5: {COUNT}"),
        (lambda: PromptChunks(TEXT), f"tokens='1': {COUNT}"),
        (lambda: ContextLimit(cast("Any", 2.5)), f"tokens=2.5: {COUNT}"),
        (lambda: Thin(TEXT), "share='1': must be a number above 0 and at most 1"),
        (lambda: Rate(TEXT), f"rate='1': {POSITIVE}"),
        (lambda: Window(TEXT), "start='1': must be a finite number of time units >= 0"),
        (lambda: Window(0, TEXT), "duration='1': must be a finite number of time units > 0"),
        (lambda: make_workload(cast("Any", 2.5), LENGTHS, ARRIVALS, 1), f"n=2.5: {COUNT}"),
        (lambda: make_workload(2, LENGTHS, ARRIVALS, TEXT), "seed='1': must be a whole number >= 0"),
        (
            lambda: read_requests("log.csv", length=cast("Any", 3)),
            "length=3: is unknown; known: total, output, prompt",
        ),
        (
            lambda: read_requests("log.csv", time_unit=TEXT),
            "time_unit='1': must be a finite number of seconds > 0",
        ),
    ],
)
def test_values_of_another_kind(make: Callable[[], object], message: str) -> None:
    assert refusal(make) == message


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: parse_lengths(cast("Any", 3)), "text=3: must be a text such as 'geometric:mean=128'"),
        (lambda: parse_arrivals(cast("Any", None)), "text=None: must be a text such as 'poisson:rate=0.5'"),
        (
            lambda: make_workload(2, cast("Any", "fixed:length=3"), ARRIVALS, 1),
            "lengths='fixed:length=3': must be a distribution, as parse_lengths gives it",
        ),
        (
            lambda: make_workload(2, LENGTHS, cast("Any", "backlog"), 1),
            "arrivals='backlog': must be a process, as parse_arrivals gives it",
        ),
        (
            lambda: predict(make_workload(2, LENGTHS, ARRIVALS, 1), cast("Any", "noise:kappa=1"), 0),
            "model='noise:kappa=1': must be a prediction model, as parse_predictions gives it",
        ),
        (lambda: parse_predictions(cast("Any", 3)), "text=3: must be a text such as 'noise:kappa=0.5'"),
        (lambda: Listed(cast("Any", 3)), "tokens=3: must be a text such as '10+7+1'"),
        (lambda: Quantiles(cast("Any", 3)), "tokens=3: must be a text such as '1+20+90'"),
        (lambda: PromptOutput("1+2", cast("Any", 3)), "output=3: must be a text such as '1+20+90'"),
        (lambda: PromptOutput("1+2", "1+2", cast("Any", 3)), "joint=3: must be a text such as '1+0+0+1'"),
        (lambda: PiecewisePoisson(1, cast("Any", 3), 9), "levels=3: must be a text such as '1+4+2.5'"),
        (lambda: Client(cast("Any", 7), 1, LENGTHS), "name=7: must be a text"),
        (
            lambda: Client("a", 1, cast("Any", "fixed:length=3")),
            "lengths='fixed:length=3': must be a distribution, as parse_lengths gives it",
        ),
        (lambda: read_requests(cast("Any", 3)), "path=3: must be a path"),
        (lambda: read_requests("log.csv", cast("Any", 3)), "format=3: must be a text such as 'auto'"),
    ],
)
def test_objects_of_another_kind(make: Callable[[], object], message: str) -> None:
    with pytest.raises(TypeError) as caught:
        make()
    assert str(caught.value) == message
