"""Options that commands share, in groups; names as ``vllm bench serve`` has them where it has them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from analysis.cli import completion
from analysis.cli.paths import input_path, run_folder

_workload = partial(typer.Option, rich_help_panel="Workload", show_default=False)
_trace = partial(typer.Option, rich_help_panel="Workload from a file", show_default=False)
_worker = partial(typer.Option, rich_help_panel="Worker and policy", show_default=False)
_prices = partial(typer.Option, rich_help_panel="Prices", show_default=False)
_statistics = partial(typer.Option, rich_help_panel="Statistics", show_default=False)
_output = partial(typer.Option, rich_help_panel="Output", show_default=False)


Jobs = Annotated[
    int | None,
    typer.Option(help="Processes (default: one a core).", min=1, max=1024, show_default=False),
]


Json = Annotated[bool, typer.Option("--json", help="Print JSON, not text.")]

OnePolicy = Annotated[
    str,
    typer.Option(help="NAME[:key=value,..], see 'serving-sim policies'.", autocompletion=completion.policy),
]


class Length(StrEnum):
    """What counts as steps."""

    TOTAL = "total"
    OUTPUT = "output"
    PROMPT = "prompt"


class OnBadRow(StrEnum):
    """What to do with a row that breaks a rule."""

    ERROR = "error"
    DROP = "drop"


class TooLong(StrEnum):
    """What becomes of a request that the model cannot hold."""

    DROP = "drop"
    CAP = "cap"


class Information(StrEnum):
    """What policies know of the length of a request."""

    EXACT = "exact"
    INTERVAL = "interval"
    NONE = "none"


class Progress(StrEnum):
    """What the progress of a request is counted in."""

    STEPS = "steps"
    TOKENS = "tokens"


@dataclass(frozen=True)
class SourceOptions:
    """Where requests come from."""

    preset: Annotated[
        str | None,
        _workload(
            help="A named workload with slots and alpha; other options override it.",
            autocompletion=completion.preset,
        ),
    ] = None
    workload: Annotated[
        Path | None,
        _workload(
            help="A specification in TOML, as 'workload fit' writes it; other options override it.",
            metavar="FILE",
            parser=input_path,
        ),
    ] = None
    lengths: Annotated[
        str | None,
        _workload(
            help="Distribution of lengths, NAME[:key=value,..] (default: lmsys-like).",
            autocompletion=completion.lengths,
        ),
    ] = None
    arrivals: Annotated[
        str | None,
        _workload(
            help="Arrival process, NAME[:key=value,..] (default: poisson, gamma with --burstiness). One of "
            "backlog, fixed, poisson, gamma, weibull, hyperexponential, mmpp, sinusoidal, piecewise, "
            "profile, batch, geometric-batch.",
            autocompletion=completion.arrivals,
        ),
    ] = None
    burstiness: Annotated[
        float | None, _workload(help="Shape of gamma gaps: 1 is Poisson, below 1 burstier.")
    ] = None
    clients: Annotated[
        Path | None,
        _workload(
            help="TOML file of clients with rates and lengths of their own.",
            metavar="FILE",
            parser=input_path,
        ),
    ] = None
    users: Annotated[
        int | None,
        _workload(help="run: this many users, each sends again once it has its answer.", min=1),
    ] = None
    think_time: Annotated[
        float | None,
        _workload(help="Mean time units from an answer to the user's next request (default: 0)."),
    ] = None
    predictions: Annotated[
        str | None,
        _workload(
            help="Intervals that hold the lengths, NAME[:key=value,..] as in noise:kappa=0.5.",
            autocompletion=completion.predictions,
        ),
    ] = None
    replications: Annotated[
        int, _workload(help="Independent workloads to serve (default: 1).", min=1, max=10_000)
    ] = 1
    requests: Annotated[Path | None, _trace(help="File of requests.", metavar="FILE", parser=input_path)] = (
        None
    )


@dataclass(frozen=True)
class FileOptions:
    """How many requests come and how fast, and how a file of them is read and shaped."""

    num_prompts: Annotated[
        int | None,
        _workload(help="Number of requests (default: 1000; of a file, all of it).", min=1, max=1_000_000_000),
    ] = None
    request_rate: Annotated[
        float | None, _workload(help="Requests per time unit; stretches the gaps of a file.")
    ] = None
    load: Annotated[
        float | None,
        _workload(
            help="Rate as a fraction of slots / mean length (default: 0.9); stretches the gaps of a file."
        ),
    ] = None
    seed: Annotated[int, _workload(help="Seed of the workload (default: 0).")] = 0
    format: Annotated[
        str, _trace(help="Format of the file (default: auto).", autocompletion=completion.trace_format)
    ] = "auto"
    length: Annotated[Length, _trace(help="What counts as steps (default: total).", case_sensitive=False)] = (
        Length.TOTAL
    )
    time_unit: Annotated[
        float | None, _trace(help="Seconds per time unit, for files in seconds.", metavar="SECONDS")
    ] = None
    on_bad_row: Annotated[
        OnBadRow, _trace(help="Stop at a bad row or drop it (default: error).", case_sensitive=False)
    ] = OnBadRow.ERROR
    tenant: Annotated[str | None, _trace(help="Only the requests of this tenant.", metavar="NAME")] = None
    model: Annotated[str | None, _trace(help="Only the requests for this model.", metavar="NAME")] = None
    window_from: Annotated[
        str | None,
        _trace(
            "--from",
            help="Start of a window of time, as in 90s, 10min or 1h; in time units without a unit.",
            metavar="TIME",
        ),
    ] = None
    window_for: Annotated[str | None, _trace("--for", help="How long the window lasts.", metavar="TIME")] = (
        None
    )
    max_model_len: Annotated[
        int | None,
        _trace(help="Most tokens of a request, prompt and output.", metavar="TOKENS", min=1),
    ] = None
    too_long: Annotated[
        TooLong,
        _trace(help="What becomes of longer requests: drop or cap (default: drop).", case_sensitive=False),
    ] = TooLong.DROP
    sample: Annotated[
        float | None, _trace(help="Keep each request with this probability.", metavar="SHARE")
    ] = None
    repeat: Annotated[
        int | None,
        _trace(help="Passes over the file, each from a random request on.", metavar="TIMES", min=1),
    ] = None
    shuffle_gaps: Annotated[
        bool, _trace("--shuffle-gaps", help="The same gaps in random order, so that bursts fall apart.")
    ] = False
    prefill_chunk: Annotated[
        int | None,
        _trace(
            help="A prompt takes a step for so many of its tokens; each request has a chunk of its own, "
            "servers share one budget.",
            metavar="TOKENS",
            min=1,
        ),
    ] = None


@dataclass(frozen=True)
class WorkloadOptions(FileOptions, SourceOptions):
    """What arrives: made, or read from a file and shaped."""


@dataclass(frozen=True)
class WorkerOptions:
    """What serves."""

    slots: Annotated[int | None, _worker(help="Largest batch (default: 32).", min=1)] = None
    alpha: Annotated[
        int | None,
        _worker(help="Fairness budget in tokens, for policies and for the audit of every run.", min=0),
    ] = None
    beta: Annotated[
        str | None, _worker(help="Packing allowance of isjl in tokens, or 'optimal' (default: alpha).")
    ] = None
    step_time: Annotated[
        str | None,
        _worker(help="base=..,per_request=..,per_max_token=..,per_token=.. in time units (default: base=1)."),
    ] = None
    slotted: Annotated[
        bool, _worker("--slotted", help="An empty worker too starts steps at whole multiples only.")
    ] = False
    information: Annotated[
        Information,
        _worker(
            help="What policies see of a length: itself, its predicted upper bound, or the context limit "
            "(default: exact).",
            case_sensitive=False,
        ),
    ] = Information.EXACT
    context_limit: Annotated[
        int | None,
        _worker(help="Limit that --information=none tells (default: the next power of two).", min=1),
    ] = None
    check: Annotated[
        bool, _worker("--check", help="Hold every call and answer of the policy against its contract.")
    ] = False


@dataclass(frozen=True)
class PriceOptions:
    """What serving costs and answers bring, in money."""

    step_cost: Annotated[float | None, _prices(help="Cost of a step, c (default: 0.0005).")] = None
    token_cost: Annotated[
        float | None,
        _prices(help="Cost of a request and token of the longest cache, tau (default: 1e-6)."),
    ] = None
    token_price: Annotated[float | None, _prices(help="Price of a token (default: 0.002).")] = None
    tariffs: Annotated[
        Path | None,
        _prices(
            help="CSV of separate prices per million tokens: tariff,input,output,cached.",
            metavar="FILE",
            parser=input_path,
        ),
    ] = None

    @property
    def given(self) -> bool:
        """Whether the user asked about money."""
        return any(value is not None for value in asdict(self).values())


@dataclass(frozen=True)
class StatisticsOptions:
    """What is measured."""

    percentiles: Annotated[
        str, _statistics(help="Percentiles of every metric (default: 50,90,95,99,99.9).")
    ] = "50,90,95,99,99.9"
    goodput: Annotated[
        str | None, _statistics(help="Service-level objectives in time units, as in ttft:200,e2el:1000.")
    ] = None
    warmup: Annotated[
        str,
        _statistics(
            help="First requests that the metrics leave out, or 'auto': MSER-5 on the average over "
            "replications (default: 0).",
            metavar="auto|N",
        ),
    ] = "0"
    until: Annotated[
        str | None,
        _statistics(
            help="Replicate until these are precise, METRIC.STATISTIC:PERCENT% as in e2el.p99:5%.",
            metavar="TARGETS",
        ),
    ] = None
    progress: Annotated[
        Progress,
        _statistics(
            help="What gaps are held against alpha in: steps, or with --prefill-chunk also tokens "
            "(default: steps). Policies see steps.",
            case_sensitive=False,
        ),
    ] = Progress.STEPS
    max_replications: Annotated[
        int, _statistics(help="Most replications that --until may take (default: 200).", min=10)
    ] = 200


@dataclass(frozen=True)
class OutputOptions:
    """What is written and said."""

    out: Annotated[Path | None, _output(help="Folder for the files.", metavar="DIR", parser=run_folder)] = (
        None
    )
    csv: Annotated[bool, _output("--csv", help="Write tables as CSV, not Parquet.")] = False
    record_batches: Annotated[
        bool, _output("--record-batches", help="Also write one row per span of constant batch.")
    ] = False
    timeline: Annotated[
        bool, _output("--timeline", help="Also write timeline.json.gz, which ui.perfetto.dev opens.")
    ] = False
    timeline_window: Annotated[
        str | None,
        _output(
            help="Times to show there, FROM:TO (default: all, up to 100,000 requests).", metavar="FROM:TO"
        ),
    ] = None
    json: Annotated[bool, _output("--json", help="Print JSON, not text.")] = False
    quiet: Annotated[bool, _output("--quiet", "-q", help="Print the result alone.")] = False


def arguments(
    *groups: WorkloadOptions | WorkerOptions | PriceOptions | StatisticsOptions, **others: object
) -> dict[str, Any]:
    """Options by name, as ``summary.json`` keeps them."""
    merged = {key: value for group in groups for key, value in asdict(group).items()} | others
    return {key: str(value) if isinstance(value, Path) else value for key, value in merged.items()}
