"""The one table of file columns: names, types, units and meanings.

The writers take their schema from here and a test holds files and JSON against it, so a name cannot
change unnoticed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from analysis.definitions import COST_METRICS


@dataclass(frozen=True)
class Column:
    """One column of a file.

    Attributes
    ----------
    name : str
        Header.
    kind : {"float", "int", "text"}
        Type of the values; may be empty where ``optional``.
    unit : str
        Unit of the values, empty for names and counts.
    meaning : str
        What the values are.
    optional : bool
        Whether values may be missing.
    """

    name: str
    kind: Literal["float", "int", "text"]
    unit: str
    meaning: str
    optional: bool = False


REQUEST_COLUMNS = (
    Column("request_id", "text", "", "name from the input, else the number of its row there"),
    Column("release", "float", "time units", "when the request became known"),
    Column("length", "int", "tokens", "service steps it needs"),
    Column("prompt_tokens", "int", "tokens", "prompt, where the input tells", optional=True),
    Column("output_tokens", "int", "tokens", "answer, where the input tells", optional=True),
    Column("start", "float", "time units", "when it was admitted"),
    Column(
        "first_token",
        "float",
        "time units",
        "end of the step that made its first output token; empty if it makes none",
    ),
    Column("finish", "float", "time units", "end of its last step"),
    Column("slot", "int", "", "slot that served it, from 0"),
    Column("queue_time", "float", "time units", "start - release"),
    Column("ttft", "float", "time units", "first_token - release; empty without a first token"),
    Column("e2el", "float", "time units", "finish - release"),
)
"""Columns of ``requests.parquet`` and ``requests.csv``."""

TENANT = Column("tenant", "text", "", "who sent the request")
MODEL = Column("model", "text", "", "which model it asked for")
"""Last columns of the requests file where the input has them."""

BATCH_COLUMNS = (
    Column("time", "float", "time units", "start of a span in which the batch does not change"),
    Column("steps", "int", "steps", "how long the span lasts; idle time has no row"),
    Column("active", "int", "requests", "requests in the batch"),
    Column("waiting", "int", "requests", "requests waiting at the start of the span"),
    Column("max_progress", "int", "tokens", "progress of the furthest request at the start of the span"),
    Column("min_progress", "int", "tokens", "progress of the latest request at the start of the span"),
)
"""Columns of ``batches.parquet`` and ``batches.csv``."""


@dataclass(frozen=True)
class Field:
    """One key of a JSON file; dots lead into nested objects."""

    name: str
    unit: str
    meaning: str


SUMMARY_FIELDS = (
    Field("version", "", "version of serving-sim"),
    Field("seed", "", "seed of the workload, null where all comes from a file"),
    Field("replication", "", "number of the replication, from 1"),
    Field(
        "input",
        "",
        "null unless a file was read, else file, format, rows_read = kept + the sum of dropped by reason, "
        "out_of_order, notes, and shaping: name, before, after, dropped and note of each step",
    ),
    Field("arguments", "", "options of the command"),
    Field("policy", "", "policy with its parameters"),
    Field("slots", "requests", "largest batch"),
    Field("step_time", "time units", "coefficients of the duration of a step"),
    Field("slotted", "", "whether an empty worker starts at whole times only"),
    Field("engine", "", "which engine ran"),
    Field("requests", "requests", "requests served, all of them finished"),
    Field("tokens", "tokens", "sum of lengths"),
    Field("warmup", "requests", "first requests that the metrics leave out"),
    Field("makespan", "time units", "last finish - 0"),
    Field("busy_time", "time units", "time with a non-empty batch"),
    Field("steps", "steps", "T, busy steps"),
    Field("Q", "token steps", "intrinsic work, exact"),
    Field("E", "token steps", "batching externality, exact"),
    Field("throughput", "tokens per time unit", "tokens / makespan"),
    Field("request_throughput", "requests per time unit", "requests / makespan"),
    Field("goodput", "", "null without objectives, else objectives, requests, share, tokens_per_time_unit"),
    Field("occupancy", "requests", "mean number of active requests over busy steps"),
    Field("occupancy_all_time", "requests", "mean number of active requests over [0, makespan]"),
    Field("extent_mean", "tokens", "mean gap over busy steps"),
    Field("extent_max", "tokens", "largest gap over busy steps"),
    Field("metrics.*.count", "requests", "requests with a value of this metric"),
    Field("metrics.*.mean", "as the metric", "value, low, high, note: the mean and its 95 % interval"),
    Field("metrics.*.std", "as the metric", "standard deviation over requests"),
    Field("metrics.*.max", "as the metric", "largest value"),
    Field("metrics.*.quantiles", "as the metric", "value, low, high, note of each quantile"),
    Field("fairness.fair", "", "whether no gap exceeded alpha, null without alpha"),
    Field("fairness.alpha", "tokens", "budget of the audit"),
    Field("fairness.max_gap", "tokens", "largest gap"),
    Field("fairness.violations", "admissions", "admissions that broke the budget"),
    Field("fairness.violation_steps", "steps", "busy steps with a gap above alpha"),
    Field("fairness.first_violation", "", "time, step, request, slot, other, other_slot, gap; null if none"),
    Field(
        "fairness_in_tokens",
        "",
        "null without --progress tokens, else the keys of fairness with progress in prompt and output "
        "tokens: max_gap and violation_steps as above, violations: admissions with a request more than "
        "alpha ahead, first_violation: the first step above alpha, an admission or not, where request is "
        "the one behind and other the one ahead",
    ),
    Field(
        "stability",
        "",
        "null where nothing arrives over time, else verdict (stable, unstable, undecided), reason, "
        "load (null without a constant step), growth of the waiting queue in requests per time unit over "
        "the second half of the arrivals, utilization: work that arrives as a part of the most that the "
        "policy can do (null where nobody knows), variability: squared coefficients of variation of gaps "
        "and lengths together, clustering: requests that come together",
    ),
    Field(
        "predictions",
        "",
        "null without upper predictions, else kappa, delta and delta_pack (lower, upper) in tokens, "
        "mean_slack, certified_ratio, and claim: null where the paper claims nothing, else "
        "optimum_lower in steps, theorem_3_22, corollary_3_24, refuted",
    ),
    Field("costs.prices", "money", "c, tau, price, and tariffs: input, output, cached per million tokens"),
    *(Field(f"costs.{entry.key}", entry.unit, entry.formula) for entry in COST_METRICS),
    Field("costs.profit_by_tariff", "money", "profit by name of the tariff"),
    Field(
        "costs.guarantee",
        "money",
        "null unless a budget was kept, else alpha in tokens, least_steps of any alpha-fair schedule, and "
        "how much more such a schedule could earn at most: by_theorem, by_run",
    ),
    Field(
        "costs.classes",
        "token steps",
        "null unless batches were recorded, else by class of length: shortest, longest and sum (tokens) of "
        "the lengths, requests, and their shares of intrinsic, steps, suffered and caused",
    ),
)
"""Keys of ``summary.json``."""
