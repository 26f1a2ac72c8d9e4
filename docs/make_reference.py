"""Write the reference pages that repeat what the code says.

`python docs/make_reference.py` rewrites them; a test holds them against the code.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer
from typer.models import ArgumentInfo, OptionInfo

from analysis.cli.app import app
from analysis.columns import BATCH_COLUMNS, MODEL, REQUEST_COLUMNS, SUMMARY_FIELDS, TENANT, Column
from analysis.definitions import REQUEST_METRICS, RUN_METRICS, Definition
from workloads.traces.formats import FORMATS, format_called

Callback = Callable[..., Any]
Row = tuple[str, str, str]

OPTION = ("option", "values", "meaning")
FOLDER = Path(__file__).parent / "reference"

COMMAND_LINE = """\
# The command line

`serving-sim COMMAND --help` says the same in a terminal. Results go to standard output, everything else
to standard error. Exit codes: 0 success, 1 a check failed, 2 bad arguments or bad input, 130 interrupted
with Ctrl-C, 141 nobody reads the output any more, 143 terminated, 129 its terminal is gone; files are
whole or absent in every case.

`serving-sim --install-completion` teaches bash, zsh, fish or PowerShell to complete commands, options and
the names that they take: policies, presets, formats, distributions, metrics. `--show-completion` prints
what it would install.

Every command takes `--json` ([what it prints](json.md)) and `--verbose`, which tells on standard error which
engine plays, what is kept already and which files are written. Progress is shown on a terminal only, when it
takes longer than a second; `NO_COLOR` turns colours off, and away from a terminal there are none, nor frames.
"""

METRICS = """\
# Metrics, files and columns

All times are in *time units*: steps with the default step time, or what `--time-unit` says. A missing
value is empty in a table and `null` in JSON, never 0. A *token* is a step of service; with
`--prefill-chunk` a whole chunk of a prompt counts as one, in lengths, gaps and throughput alike.
"""


WORDS = (
    ("end-to-end latency", "sojourn, response or flow time: finish - release"),
    ("queue time", "waiting time: start - release"),
    ("gap", "extent, the paper's word: largest minus smallest progress in the batch"),
    ("slowdown", "stretch: end-to-end latency over the time of the request alone"),
    ("makespan", "C_max: the last finish, counted from time 0 and not from the first release"),
    ("load", "utilization rho: work that arrives per time unit over what all slots can do in it"),
    ("SCV", "squared coefficient of variation, variance / mean^2; 1 for the gaps of Poisson arrivals"),
    ("index of dispersion", "variance / mean of the arrivals in a window; 1 for Poisson arrivals"),
    (
        "competitive ratio",
        "best makespan / the policy's, [often inverted](../explanation/bounds.md#which-way-up-a-ratio-is)",
    ),
    ("static batching", "a batch ends before the next one begins"),
    ("continuous batching", "a slot that falls free is filled at the next step"),
)


REQUEST_IDS = """\
Rows are counted from 0, without the header and blank lines, but with bad rows: the number stays that of the
file when rows are dropped, sorted, or left out by `--from`, `--tenant`, `--sample` and the like, so that a
request can be joined back to its log. Of several files the rows are counted on from one to the next, in the
order of their names. `--repeat` puts `~2`, `~3`, .. behind the number in later passes. Of a file that
`workload convert` made, the ids are those of the log. Requests that were drawn, not
read, are counted as they arrive.
"""

TIMELINE = """\
## `timeline.json.gz`, with `--timeline`

Chrome trace events, which ui.perfetto.dev opens: a thread a slot with a slice a request, arrows from
release to admission, waiting requests as asynchronous slices, counters of waiting and active requests,
largest progress and gap. Times there are seconds where `--time-unit` says how long a time unit is; else a
time unit is a millisecond, and the name of the worker says so. At most 100,000 requests, those admitted
first; `--timeline-window FROM:TO`, in time units, picks the ones that wait or run between two times.
"""


TRACE_FORMATS = """\
# Formats of request logs

`--requests FILE` of `run`, `compare` and `workload` reads any of these; `--format` names one. In Python it
is `read_requests(path, format="auto", length="total", time_unit=0.02)`. Columns of a tenant or a
model are read where they are there. `plain` is [the workload file](workloads.md) of the project itself.
`LogStream` takes the same arguments and is a source for `simulate` that never holds the whole file: for logs
in the order of time that are larger than memory, with a sink for the fates.
"""

READING = """\
## How a format is told

With `--format auto` by the names of the columns, or of the keys of JSON objects, alone: the file has those
of one format, or those of several of which one has them all and more. Values never decide, units least of
all: milliseconds are never told from seconds by their size. The run says what was decided. A file that
could be two formats is refused, and so is one that is none, with the names it has. Formats marked *by
name* look like another one and must be named.

## What a file may be

CSV, JSON lines, JSON (an array of objects, or objects over several lines, read one by one) or Parquet, by
its suffix or else its first bytes; any of them inside gzip or zstd, told by the first bytes, if it unpacks
to at most 1 GiB or 100 times its size. A Parquet file has at most 10^9 rows; pipes and devices are refused.
Columns are found by name, in any order and among others. A byte-order mark, spaces around names and
numbers, LF or CRLF, a missing last line end and blank lines are fine. Text must be UTF-8.

A pattern in quotes, as in `--requests 'logs/*.csv.gz'`, names several files of one format. They are merged
in the order of their times; their clocks must have one origin.

## Times

Times become whole nanoseconds, digits beyond are rounded; the first is subtracted while they are integers,
so that gaps between stamps since 1970 are exact. Time 0 is the first good row; what `--max-model-len`,
`--tenant` or `--model` leave out later does not move it. `--time-unit` says how many seconds make a time
unit. Requests need not be sorted: equal times keep the order of the file, and the run says how many
rows came earlier than the row before.

Dates have hours, minutes and seconds, up to nine digits more, and an offset from UTC in all rows or in
none. A stamp such as `15:46.7`, which a spreadsheet program has cut off, is refused.

## Lengths

`--length total` counts prompt and output tokens, `output` or `prompt` one of them; the length must be 1 at
least. Tokens are whole numbers from 0 to 2**62, exact to the last digit.

A file of token counts without times is no workload, but a distribution of lengths:
`--lengths empirical:file=FILE`, with `column=output_tokens` for outputs alone. It has columns
`input_tokens` or `prompt_tokens` with `output_tokens`, `prompt_tokens` with `completion_tokens`,
`num_prefill_tokens` with `num_decode_tokens`, `input_length` with `output_length`, or `prompt_len` with
`output_len`. Any log serves as well. Conversations as texts, as ShareGPT has them, are refused: how many
tokens they are depends on the tokenizer.

## Client tables of ServeGen

These are no log: `chunk-N-trace.csv` holds for each client how fast and how bursty its requests come in
windows of time, `chunk-N-dataset.json` how long they are. A command draws requests from them:

    serving-sim workload servegen DIR --out FILE.csv --time-unit 0.02 --from 18h --for 1h

A window of rate r and length W sends r W requests, after gaps of its distribution, scaled to fill it. Each
client keeps its own random numbers, whoever else is in the folder and whatever stretch is asked for.

## Rows that are refused

The first bad row ends the command with its file, line, column, value and rule. `--on-bad-row drop` leaves
such rows out and counts them by rule; the run then says rows = kept + dropped. Besides what is said above,

- `burstgpt`: rows without an answer are failed requests;
- `mooncake`, `aiperf`, `vllm-timed`: a turn with a `delay` waits for the answer before it and has no time of
  its own;
- `llmservingsim`: a line with `sub_requests` is a session of calls that wait for each other;
- `ragpulse`: the clock starts anew in the middle; rows after that are refused, so that the file can be made
  two. Times that are numbers are refused too, as `aiperf` has milliseconds under the same keys;
- `vllm-bench`: a request with an error failed. `--save-detailed` writes the lists that are read;
- `blis`: a prompt of 0 tokens was not counted. The file is the CSV beside the YAML header.

Images of `azure-multimodal` are not tokens and not counted; `pd_ratio` of `vidur`, which has two meanings,
is ignored; inputs of `bailian` hold the turns before already, and nothing is added to them.
"""


def pages() -> dict[str, str]:
    """Text of each page by file name."""
    return {
        "command-line.md": _command_line(),
        "metrics-and-files.md": _metrics(),
        "trace-formats.md": _trace_formats(),
    }


def options() -> dict[str, set[str]]:
    """Names of the options of every command."""
    found = {
        name: {option for rows in _panels(callback).values() for row in rows for option in _bare(row[0])}
        for name, callback in _commands(app, "serving-sim")
    }
    return {**found, "serving-sim study": found["serving-sim study run"]}  # the command it stands for


def _bare(names: str) -> list[str]:
    return [each.strip("`") for each in names.split(", ")]


def _command_line() -> str:
    commands = dict(_commands(app, "serving-sim"))
    shared = _panels(commands["serving-sim compare"])
    shared.pop("")
    sections = [COMMAND_LINE, "## Options that commands share\n"]
    sections += [f"### {name}\n\n{_table(OPTION, rows)}\n" for name, rows in shared.items()]
    sections += ["## Commands\n"]
    sections += [_command(name, callback, shared) for name, callback in commands.items()]
    return "\n".join(sections)


def _trace_formats() -> str:
    rows = []
    for name in FORMATS.targets:
        known = format_called(name)
        columns = ", ".join(f"`{column}`" for column in known.columns)
        named = [f"{of} `{getattr(known, of)}`" for of in ("tenant", "model") if getattr(known, of, None)]
        told = f"*by name*: {columns}" if known.by_name_only else columns
        rows.append((f"`{name}`", known.summary, "; ".join([told, *named])))
    return "\n".join([TRACE_FORMATS, _table(("format", "what it is", "columns"), rows) + "\n", READING])


def _commands(group: typer.Typer, name: str) -> Iterator[tuple[str, Callback]]:
    """Every command with its full name."""
    for command in group.registered_commands:
        assert command.callback is not None
        if not command.hidden:
            yield f"{name} {command.name or command.callback.__name__}", command.callback
    for inner in group.registered_groups:
        assert inner.typer_instance is not None
        yield from _commands(inner.typer_instance, f"{name} {inner.name}")


def _panels(callback: Callback) -> dict[str, list[Row]]:
    """Rows of the options by the panel of the help that shows them; "" holds those of the command alone."""
    panels: dict[str, list[Row]] = {"": []}
    hints = get_type_hints(callback, include_extras=True)
    for name, parameter in inspect.signature(callback).parameters.items():
        if get_origin(hints[name]) is not Annotated:  # the context that typer hands in
            continue
        kind, info = get_args(hints[name])
        assert isinstance(info, ArgumentInfo | OptionInfo)
        if not info.hidden:
            panels.setdefault(info.rich_help_panel or "", []).append(
                (_names(name, info), _values(kind, info), _meaning(info, parameter.default))
            )
    return panels


def _command(name: str, callback: Callback, shared: dict[str, list[Row]]) -> str:
    panels = _panels(callback)
    whole = [panel for panel in shared if panels.get(panel) == shared[panel]]
    own = [row for panel, rows in panels.items() if panel not in whole for row in rows]
    lines = [f"### `{name}`\n", f"{_sentence(inspect.getdoc(callback))}\n"]
    if own:
        lines.append(_table(OPTION, own) + "\n")
    if whole:
        lines.append(f"Shared: {', '.join(whole)}.\n")
    return "\n".join(lines)


def _names(name: str, info: ArgumentInfo | OptionInfo) -> str:
    if isinstance(info, ArgumentInfo):
        return f"`{info.metavar or name.upper()}`"
    declared = [each for each in (info.default, *(info.param_decls or ())) if isinstance(each, str)]
    return ", ".join(f"`{each}`" for each in declared or ["--" + name.replace("_", "-")])


def _meaning(info: ArgumentInfo | OptionInfo, default: object) -> str:
    text = _sentence(info.help)
    said = "default" in text or default in (None, False, inspect.Parameter.empty)
    shown = getattr(default, "value", default)
    return text if said else f"{text.removesuffix('.')} (default: {shown})."


def _values(kind: object, info: ArgumentInfo | OptionInfo) -> str:
    several = False
    while get_args(kind):  # list[X] and X | None
        several = several or get_origin(kind) is list
        kind = next(each for each in get_args(kind) if each is not type(None))
    assert isinstance(kind, type)
    if issubclass(kind, Enum):
        text = ", ".join(f"`{each.value}`" for each in kind)
    else:
        text = info.metavar or _KINDS[kind]
    bound = "" if info.min is None else f" >= {info.min}"
    return f"{text}{bound}{', repeatable' if several else ''}"


_KINDS = {str: "text", int: "whole number", float: "number", bool: "flag", Path: "path"}


def _sentence(text: str | None) -> str:
    return " ".join((text or "").split())


def _metrics() -> str:
    return "\n".join(
        [
            METRICS,
            "## Metrics with one value a request\n",
            _definitions(REQUEST_METRICS) + "\n",
            "## Metrics with one value a run\n",
            _definitions(RUN_METRICS) + "\n",
            "## Words, and what others call them\n",
            _table(("here", "elsewhere, or in other words"), WORDS) + "\n",
            "## `requests.parquet`, or `requests.csv` with `--csv`\n",
            "One row a request, in input order.\n",
            _columns((*REQUEST_COLUMNS, TENANT, MODEL)) + "\n",
            REQUEST_IDS,
            "## `batches.parquet`, or `batches.csv`, with `--record-batches`\n",
            _columns(BATCH_COLUMNS) + "\n",
            TIMELINE,
            "## `summary.json`\n",
            "Dots lead into nested objects.\n",
            _table(
                ("key", "unit", "meaning"),
                [(f"`{each.name}`", each.unit, each.meaning) for each in SUMMARY_FIELDS],
            )
            + "\n",
        ]
    )


def _definitions(definitions: Iterable[Definition]) -> str:
    rows = [(f"`{each.key}`", each.title, each.unit, each.formula, each.better) for each in definitions]
    return _table(("key", "name", "unit", "definition", "better"), rows)


def _columns(columns: Iterable[Column]) -> str:
    rows = [
        (f"`{each.name}`", each.kind, each.unit, each.meaning + (", may be empty" if each.optional else ""))
        for each in columns
    ]
    return _table(("column", "type", "unit", "meaning"), rows)


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '&#124;') for cell in line)} |" for line in lines)


if __name__ == "__main__":
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
        print(FOLDER / name)
