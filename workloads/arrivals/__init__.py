"""When requests arrive: release times in time units.

The processes are the true ones: gaps are drawn and added up, and nothing is rescaled afterwards to
make the last arrival fall where the rate would like it, which would no longer be Poisson.
"""

from workloads.arrivals.backlog import Backlog
from workloads.arrivals.batch import Batch, GeometricBatch
from workloads.arrivals.catalogue import ARRIVALS, parse_arrivals, takes_rate
from workloads.arrivals.fixed import FixedGaps
from workloads.arrivals.gamma import Gamma
from workloads.arrivals.hyperexponential import Hyperexponential
from workloads.arrivals.load import rate_for_load
from workloads.arrivals.markov_modulated import MarkovModulatedPoisson
from workloads.arrivals.piecewise import PiecewisePoisson
from workloads.arrivals.poisson import Poisson
from workloads.arrivals.process import Arrivals, PointProcess, Renewal, requests_a_round
from workloads.arrivals.sinusoidal import SinusoidalPoisson
from workloads.arrivals.weibull import Weibull

__all__ = [
    "ARRIVALS",
    "Arrivals",
    "Backlog",
    "Batch",
    "FixedGaps",
    "Gamma",
    "GeometricBatch",
    "Hyperexponential",
    "MarkovModulatedPoisson",
    "PiecewisePoisson",
    "PointProcess",
    "Poisson",
    "Renewal",
    "SinusoidalPoisson",
    "Weibull",
    "parse_arrivals",
    "rate_for_load",
    "requests_a_round",
    "takes_rate",
]
