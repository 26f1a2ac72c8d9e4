"""A fitted step time as tables and as a section of a report."""

from __future__ import annotations

from analysis.plots.steptime import fitted_steps
from analysis.report.pictures import Picture
from analysis.report.section import Section
from analysis.steptime import COLUMNS, TERMS, MeasuredSteps, StepTimeFit
from analysis.tables import Table
from analysis.text import number, with_interval
from serving_sim.how_many import how_many

_PER = ("step", "request", "token of the longest cache", "token of all caches")
"""What each of `TERMS` is counted by."""


def step_time_tables(fit: StepTimeFit) -> list[Table]:
    """Coefficients, how well they fit, and where they were measured."""
    coefficients = [
        (f"{name} (ms per {per})", with_interval(fit.coefficients[name]))
        for name, per in zip(TERMS, _PER, strict=True)
    ]
    errors = {"the steps fitted": fit.fitted, "steps held out": fit.held_out}
    condition = "infinite" if fit.dependence.exact else number(fit.dependence.condition)
    return [
        Table(
            f"step time fitted to {how_many(fit.steps, 'step')}, "
            "with 95 % intervals where the data carry them",
            ("coefficient", "value"),
            coefficients,
            notes=fit.warnings,
        ),
        Table(
            f"errors; R^2 = {number(fit.r_squared)}, condition index {condition}",
            ("on", "root mean square (ms)", "mean (ms)", "median (% of the step)"),
            [
                (
                    name,
                    number(each.root_mean_square),
                    number(each.mean_absolute),
                    number(100 * each.median_relative),
                )
                for name, each in errors.items()
            ],
        ),
        Table(
            "measured - fitted (ms)",
            ("", *fit.residuals),
            [("quantile", *map(number, fit.residuals.values()))],
        ),
        Table(
            "measured; beyond these the fit only extrapolates",
            ("column", "from", "to"),
            [(name, *map(number, fit.ranges[name])) for name in COLUMNS],
        ),
    ]


def step_time_section(fit: StepTimeFit, steps: MeasuredSteps, found: str) -> Section:
    """The page of ``steptime fit``; ``found`` is its result in a sentence."""
    model = (
        "A step is modelled to take base + per_request x requests + per_max_token x tokens of the longest "
        "cache + per_token x tokens of all caches. The coefficients are those >= 0 with the least squares "
        "of measured minus fitted time."
    )
    errors = (
        "Held out is each tenth of the log once, in blocks of consecutive steps, and predicted by the fit to "
        "the rest. Errors there that are much larger than on the steps fitted speak against the "
        "coefficients; a median of the residuals that bends away from 0 speaks against the model."
    )
    picture = Picture(
        "steptime",
        "Measured and fitted",
        "Above left measured against fitted times: points on the line are right. The others show measured "
        "minus fitted time against what the model knows of a batch, a point a step, with the median of "
        "steps nearby: where it bends, the cost is not proportional.",
        fitted_steps(fit, steps),
    )
    tables = step_time_tables(fit)
    return Section(
        "steptime", "How long a step takes", (model, errors), [found, *fit.warnings], tables, [picture]
    )
