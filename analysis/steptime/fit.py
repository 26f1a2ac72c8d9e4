"""Fit the affine step time to measured steps, and say how far it can be trusted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from analysis.estimate import Estimate
from analysis.statistic import quantiles
from analysis.steptime.blocks import blocks
from analysis.steptime.dependence import Dependence, dependence
from analysis.steptime.held_out import FOLDS, predictions_held_out
from analysis.steptime.intervals import NEGATIVE, intervals
from analysis.steptime.least_squares import least_squares
from analysis.steptime.steps import COLUMNS, TERMS, MeasuredSteps
from serving_sim import StepTime
from serving_sim.request import FloatArray, IntArray

_PERCENTILES = (1, 5, 25, 50, 75, 95, 99)

_TOLERATED = 0.1
"""Median error of steps held out, as a part of the step, up to which the model describes them."""


@dataclass(frozen=True)
class Errors:
    """How far predictions are from measurements.

    Attributes
    ----------
    root_mean_square, mean_absolute : float
        In milliseconds.
    median_relative : float
        Median of the distance over the measured time.
    """

    root_mean_square: float
    mean_absolute: float
    median_relative: float


@dataclass(frozen=True)
class StepTimeFit:
    """The affine step time that fits measured steps best, in milliseconds.

    Attributes
    ----------
    steps : int
        How many were measured.
    coefficients : dict of str to Estimate
        By name of `serving_sim.StepTime`, with 95 % intervals.
    ranges : dict of str to (float, float)
        Smallest and largest value of each column; beyond them the fit only extrapolates.
    r_squared : float or None
        Share of the variance that the fit explains; None where all steps took equally long.
    residuals : dict of str to float
        Quantiles of measured minus fitted time, those that so many steps can tell.
    fitted : Errors
        On the steps that the fit has seen.
    held_out : Errors
        On steps that were held out: each of ten fits predicts the tenth of the blocks it has not seen.
    dependence : Dependence
        Which coefficients the steps tell apart.
    """

    steps: int
    coefficients: dict[str, Estimate]
    ranges: dict[str, tuple[float, float]]
    r_squared: float | None
    residuals: dict[str, float]
    fitted: Errors
    held_out: Errors
    dependence: Dependence

    @property
    def values(self) -> FloatArray:
        """Coefficients in the order of `TERMS`, shape (4,), in milliseconds."""
        return np.array([self.coefficients[name].value for name in TERMS], dtype=np.float64)

    @property
    def warnings(self) -> list[str]:
        """Why the fit, or some coefficients, are to be taken with care or not at all; each reason once."""
        notes = [
            f"{name} {each.note}" if each.note == NEGATIVE else each.note
            for name, each in self.coefficients.items()
            if each.note is not None
        ]
        dependent = map(self.dependence.warning, self.dependence.groups)
        return list(dict.fromkeys([*self._misfit, *notes, *dependent]))

    @property
    def _misfit(self) -> list[str]:
        error = self.held_out.median_relative
        if error <= _TOLERATED:
            return []
        told = (
            "the model does not describe these steps: the median error of those held out is "
            f"{100 * error:.3g} %, beyond {100 * _TOLERATED:g} %"
        )
        explained = "" if self.r_squared is None else f", and R^2 is {self.r_squared:.2g}"
        return [f"{told}{explained}"]

    def predicted(self, steps: MeasuredSteps) -> FloatArray:
        """Milliseconds that the fit gives to each step, shape (n,)."""
        return steps.design @ self.values

    def step_time(self, time_unit: float) -> StepTime:
        """The step time of a simulation whose time unit is so many seconds, to six digits."""
        return StepTime(*(float(f"{value / 1000 / time_unit:.6g}") for value in self.values))

    def to_dict(self) -> dict[str, Any]:
        """What ``steptime fit --json`` prints of the fit."""
        return {**asdict(self), "warnings": self.warnings}


def fit_step_time(steps: MeasuredSteps, seed: int = 0) -> StepTimeFit:
    """Fit by least squares with coefficients that are not negative.

    Parameters
    ----------
    steps : MeasuredSteps
        At least 10, in the order in which they were taken.
    seed : int
        Deals blocks of consecutive steps to the ten parts that are held out in turn.

    Raises
    ------
    ValueError
        If there are too few steps.
    """
    if len(steps) < FOLDS:
        raise ValueError(f"steps={len(steps)}: must be at least {FOLDS}, one for each part that is held out")
    design, measured, parts = steps.design, steps.milliseconds, blocks(len(steps))
    values = least_squares(design, measured)
    predicted = design @ values
    depends = dependence(design)
    unseen = predictions_held_out(design, measured, parts, np.random.default_rng(seed))
    return StepTimeFit(
        steps=len(steps),
        coefficients=_estimates(design, measured, values, parts, depends),
        ranges={name: _range(getattr(steps, name)) for name in COLUMNS},
        r_squared=_explained(measured, predicted),
        residuals=_quantiles(measured - predicted),
        fitted=_errors(measured, predicted),
        held_out=_errors(measured, unseen),
        dependence=depends,
    )


def _estimates(
    design: FloatArray,
    measured: FloatArray,
    values: FloatArray,
    parts: Sequence[IntArray],
    depends: Dependence,
) -> dict[str, Estimate]:
    estimates = dict(zip(TERMS, intervals(design, measured, values, parts), strict=True))
    for group in depends.groups if depends.exact else ():
        note = depends.warning(group)
        estimates |= {name: estimates[name].withheld(note) for name in group}
    return estimates


def _explained(measured: FloatArray, predicted: FloatArray) -> float | None:
    if np.ptp(measured) == 0:  # the sum below would not be 0, but a rounding
        return None
    total = float(np.sum((measured - measured.mean()) ** 2))
    return 1 - float(np.sum((measured - predicted) ** 2)) / total


def _errors(measured: FloatArray, predicted: FloatArray) -> Errors:
    distance = np.abs(measured - predicted)
    return Errors(
        float(np.sqrt(np.mean(distance**2))), float(distance.mean()), float(np.median(distance / measured))
    )


def _quantiles(residuals: FloatArray) -> dict[str, float]:
    carried = [each for each in quantiles(_PERCENTILES) if each.absence(len(residuals)) is None]
    return {each.name: each.of(residuals) for each in carried}


def _range(values: IntArray | FloatArray) -> tuple[float, float]:
    return values.min().item(), values.max().item()
