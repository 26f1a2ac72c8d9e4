"""The affine step time, fitted to steps that an engine has measured."""

from analysis.steptime.dependence import Dependence
from analysis.steptime.fit import Errors, StepTimeFit, fit_step_time
from analysis.steptime.steps import COLUMNS, TERMS, MeasuredSteps, read_steps

__all__ = [
    "COLUMNS",
    "TERMS",
    "Dependence",
    "Errors",
    "MeasuredSteps",
    "StepTimeFit",
    "fit_step_time",
    "read_steps",
]
