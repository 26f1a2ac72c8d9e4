"""Exact optimum of small instances: the least makespan of an alpha-fair schedule, or its bracket."""

from analysis.optimum.feasibility import check_schedule
from analysis.optimum.solve import Optimum, Solver, optimum

__all__ = ["Optimum", "Solver", "check_schedule", "optimum"]
