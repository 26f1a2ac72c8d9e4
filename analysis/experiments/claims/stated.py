"""Numbers that the paper states in its tables."""

from __future__ import annotations

from dataclasses import dataclass

ALPHAS = (50, 100, 150, 250, 300, 400, 500)
"""Budgets of tables 1 and 2."""


@dataclass(frozen=True)
class ProfitRow:
    """A row of table 1; money but for throughput (tokens per step) and extent (tokens)."""

    profit: float
    cost: float
    intrinsic: float
    time: float
    externality: float
    throughput: float
    gain: float
    """Throughput over that of LJF, in per cent."""
    extent: float


TABLE_1 = {
    "fcfs": ProfitRow(128.73, 68.41, 32.07, 1.24, 35.10, 39.78, -0.12, 566.26),
    "ljf": ProfitRow(163.82, 33.31, 32.07, 1.24, 0.00, 39.83, 0.00, 0.00),
    "isjl:alpha=50": ProfitRow(162.53, 34.60, 32.07, 1.20, 1.33, 41.23, 3.50, 36.62),
    "isjl:alpha=100": ProfitRow(161.10, 36.03, 32.07, 1.16, 2.79, 42.30, 6.21, 74.83),
    "isjl:alpha=150": ProfitRow(159.59, 37.55, 32.07, 1.12, 4.35, 44.00, 10.48, 111.86),
    "isjl:alpha=250": ProfitRow(156.30, 40.83, 32.07, 1.05, 7.71, 46.99, 17.97, 187.29),
    "isjl:alpha=300": ProfitRow(154.71, 42.43, 32.07, 1.03, 9.32, 47.92, 20.31, 222.57),
    "isjl:alpha=400": ProfitRow(151.31, 45.83, 32.07, 1.02, 12.74, 48.36, 21.42, 290.71),
    "isjl:alpha=500": ProfitRow(147.82, 49.32, 32.07, 1.01, 16.23, 48.61, 22.03, 361.91),
}


@dataclass(frozen=True)
class BreakEvenRow:
    """A row of table 2."""

    saving: float
    """Steps less than LJF."""
    externality: float
    """tau E."""
    break_even: float
    """Cost of a step at which ISJL and LJF earn the same."""


TABLE_2 = {
    50: BreakEvenRow(83.2, 1.35, 0.0162),
    100: BreakEvenRow(147.6, 2.81, 0.0190),
    150: BreakEvenRow(235.2, 4.36, 0.0185),
    250: BreakEvenRow(380.0, 7.71, 0.0203),
    300: BreakEvenRow(414.0, 9.33, 0.0225),
    400: BreakEvenRow(437.8, 12.72, 0.0291),
    500: BreakEvenRow(444.2, 16.25, 0.0366),
}
"""By alpha."""

COLUMNS = ("fcfs", "sjf", "ljf", "isjl:alpha=50", "isjl:alpha=100", "isjl:alpha=150")
"""Policies of table 3."""

TABLE_3 = {
    (16, "throughput"): (216, 196, 243, 262, 270, 276),
    (16, "latency"): (62, 60, 66, 53, 56, 54),
    (32, "throughput"): (278, 259, 323, 357, 369, 378),
    (32, "latency"): (70, 67, 78, 62, 63, 65),
}
"""By slots and metric, one value a column."""

TABLE_3_GAINS = (
    (16, "throughput", 5, 2, 14),
    (16, "throughput", 5, 1, 28),
    (16, "latency", 3, 2, -20),
    (16, "latency", 3, 1, -12),
    (32, "throughput", 5, 2, 17),
    (32, "throughput", 5, 1, 46),
    (32, "latency", 3, 2, -21),
    (32, "latency", 3, 1, -7),
)
"""Sentences of section 6: slots, metric, column, column compared with, change in per cent."""
