"""Arrival processes by name."""

from __future__ import annotations

from typing import cast

from serving_sim.arguments import check_kind
from workloads.arrivals.process import Arrivals
from workloads.registry import Registry
from workloads.spec import leaves_open, parse

ARRIVALS = Registry(
    kind="arrival process",
    prefix="arrivals",
    builtin={
        "backlog": "workloads.arrivals.backlog:Backlog",
        "fixed": "workloads.arrivals.fixed:FixedGaps",
        "poisson": "workloads.arrivals.poisson:Poisson",
        "gamma": "workloads.arrivals.gamma:Gamma",
        "weibull": "workloads.arrivals.weibull:Weibull",
        "hyperexponential": "workloads.arrivals.hyperexponential:Hyperexponential",
        "mmpp": "workloads.arrivals.markov_modulated:MarkovModulatedPoisson",
        "sinusoidal": "workloads.arrivals.sinusoidal:SinusoidalPoisson",
        "piecewise": "workloads.arrivals.piecewise:PiecewisePoisson",
        "profile": "workloads.arrivals.profile:Profile",
        "batch": "workloads.arrivals.batch:Batch",
        "geometric-batch": "workloads.arrivals.batch:GeometricBatch",
    },
    by_name=True,
)


def parse_arrivals(text: str, *, rate: float | None = None, burstiness: float | None = None) -> Arrivals:
    """The process that ``NAME:key=value,..`` names, such as ``gamma:rate=0.5,burstiness=0.25``.

    Parameters
    ----------
    text : str
        Name and parameters.
    rate, burstiness : float, optional
        Used where the process has such a parameter and the text does not give it.

    Raises
    ------
    TypeError
        If it is no text.
    ValueError
        If the text does not name a process with its parameters.
    """
    check_kind("text", text, str, "a text such as 'poisson:rate=0.5'")
    given = {"rate": rate, "burstiness": burstiness}
    defaults = {key: value for key, value in given.items() if value is not None}
    return cast("Arrivals", parse(text, ARRIVALS, Arrivals, defaults))


def takes_rate(text: str) -> bool:
    """Whether the process that ``text`` names comes as fast as it is told, not at a pace of its own.

    Raises
    ------
    ValueError
        If the text names no process or has an unknown key.
    """
    return leaves_open(text, ARRIVALS, "rate")
