"""Numbers that Yao and Zhou print, table by table."""

from __future__ import annotations

ALPHAS = (50, 100, 150, 250, 300, 400, 500)
"""Fairness budgets of tables 1 and 2, in tokens."""

METRICS = ("profit", "cost", "tau_q", "c_t", "tau_e", "throughput", "gain", "extent")
"""Columns of table 1."""

_TABLE1 = {
    "fcfs": (128.73, 68.41, 32.07, 1.24, 35.10, 39.78, -0.12, 566.26),
    "ljf": (163.82, 33.31, 32.07, 1.24, 0.00, 39.83, 0.00, 0.00),
    "isjl:alpha=50": (162.53, 34.60, 32.07, 1.20, 1.33, 41.23, 3.50, 36.62),
    "isjl:alpha=100": (161.10, 36.03, 32.07, 1.16, 2.79, 42.30, 6.21, 74.83),
    "isjl:alpha=150": (159.59, 37.55, 32.07, 1.12, 4.35, 44.00, 10.48, 111.86),
    "isjl:alpha=250": (156.30, 40.83, 32.07, 1.05, 7.71, 46.99, 17.97, 187.29),
    "isjl:alpha=300": (154.71, 42.43, 32.07, 1.03, 9.32, 47.92, 20.31, 222.57),
    "isjl:alpha=400": (151.31, 45.83, 32.07, 1.02, 12.74, 48.36, 21.42, 290.71),
    "isjl:alpha=500": (147.82, 49.32, 32.07, 1.01, 16.23, 48.61, 22.03, 361.91),
}

TABLE1 = {policy: dict(zip(METRICS, values, strict=True)) for policy, values in _TABLE1.items()}
"""By policy and metric."""

_TABLE2 = {
    50: (83.2, 1.35, 0.0162),
    100: (147.6, 2.81, 0.0190),
    150: (235.2, 4.36, 0.0185),
    250: (380.0, 7.71, 0.0203),
    300: (414.0, 9.33, 0.0225),
    400: (437.8, 12.72, 0.0291),
    500: (444.2, 16.25, 0.0366),
}

TABLE2 = {
    alpha: dict(zip(("saving", "tau_e", "break_even"), values, strict=True))
    for alpha, values in _TABLE2.items()
}
"""By alpha: steps saved against LJF, externality cost, break-even step cost."""

TABLE3_POLICIES = ("fcfs", "sjf", "ljf", "isjl:alpha=50", "isjl:alpha=100", "isjl:alpha=150")

_TABLE3 = {
    (16, "throughput"): (216, 196, 243, 262, 270, 276),
    (16, "ael"): (62, 60, 66, 53, 56, 54),
    (32, "throughput"): (278, 259, 323, 357, 369, 378),
    (32, "ael"): (70, 67, 78, 62, 63, 65),
}

TABLE3 = {key: dict(zip(TABLE3_POLICIES, values, strict=True)) for key, values in _TABLE3.items()}
"""By slots and metric, then by policy; the paper gives no units."""

TABLE3_CHANGES = (
    (16, "throughput", "isjl:alpha=150", "ljf", 14),
    (16, "throughput", "isjl:alpha=150", "sjf", 28),
    (16, "ael", "isjl:alpha=50", "ljf", -20),
    (16, "ael", "isjl:alpha=50", "sjf", -12),
    (32, "throughput", "isjl:alpha=150", "ljf", 17),
    (32, "throughput", "isjl:alpha=150", "sjf", 46),
    (32, "ael", "isjl:alpha=50", "ljf", -21),
    (32, "ael", "isjl:alpha=50", "sjf", -7),
)
"""Sentences of section 6: slots, metric, policy, policy compared with, change in per cent."""

LENGTHS = {"mean": 126.0, "median": 90.0, "max": 905.0, "variance": 14938.0}
"""Of the 2,000 conversations of section 6, in tokens."""
