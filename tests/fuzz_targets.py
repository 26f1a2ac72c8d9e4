"""What every reader must do with any bytes at all: give a result that holds together, or refuse in one line.

A target takes the bytes of a file or a text and returns, or raises what is a fault of the project: an
`AssertionError`, or whatever a reader should not have let through. `SEEDS` has whole inputs to change.
`tests/fuzz.py` feeds the targets for hours, `tests/test_fuzz.py` for a moment.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar
from unittest import mock

import numpy as np
import pyarrow as pa
from log_samples import SAMPLES
from pyarrow import parquet

from analysis.cli import parsing
from analysis.prices import read_tariffs
from analysis.statistic import quantiles
from analysis.steptime.steps import read_steps
from analysis.study import read_study
from analysis.study.measure import Result
from analysis.study.store import Store, kept_cells
from policies import parse_policy
from workloads import (
    LogStream,
    parse_arrivals,
    parse_lengths,
    parse_predictions,
    predict,
    read_clients,
    read_requests,
    read_specification,
    read_workload,
    write_workload,
)
from workloads.servegen import client_workload, read_servegen
from workloads.traces import FORMATS, read_lengths

if TYPE_CHECKING:
    from collections.abc import Iterator

    from serving_sim import Workload

Target = Callable[[bytes], None]
Found = TypeVar("Found")

PATIENCE = 5.0
"""Seconds of computing that an input may take at most; the largest that are tried have 64 kB."""

_FOLDER = tempfile.TemporaryDirectory(prefix="serving-sim-fuzz-")
"""Where the inputs lie; removed as the process ends."""

FOLDER = Path(_FOLDER.name)


def outcome(read: Callable[[], Found], place: object = "", *, given: str = "") -> Found | None:
    """What a reader returns, None where it refuses: in one line that names the file.

    A text that is ``given`` may name a file itself; its name is repeated as it is.
    """
    begin = time.process_time()
    try:
        return read()
    except (ValueError, OSError) as error:
        message = str(error)
        assert len(message.splitlines()) <= max(1, len(given.splitlines())), f"not one line: {message!r}"
        named = str(place) in message or (isinstance(error, OSError) and str(FOLDER) in message)
        assert named, f"does not name {place}: {message!r}"
        return None
    finally:
        assert time.process_time() - begin < PATIENCE, "takes too long"


def check_workload(workload: Workload) -> None:
    """What holds of all requests, whatever they were read from."""
    assert len(workload) > 0
    assert np.isfinite(workload.release).all()
    assert (workload.release >= 0).all()
    assert (np.diff(workload.release) >= 0).all()
    assert (workload.length >= 1).all()
    for name in ("tenant", "model", "request_id"):
        column = getattr(workload, name)
        assert column is None or all(isinstance(each, str) for each in column)


def _file(name: str, content: bytes) -> Path:
    path = FOLDER / name
    path.write_bytes(content)
    return path


# The first byte of a log says what its file is called and how it is read.
_SUFFIXES = (".csv", ".jsonl", ".json", "", ".parquet")
_READINGS = tuple(product(("total", "output", "prompt"), ("error", "drop"), _SUFFIXES))


def _log(data: bytes, *, format: str) -> None:  # noqa: A002  (the option's name)
    length, on_bad_row, suffix = _READINGS[(data[0] if data else 0) % len(_READINGS)]
    path = _file(f"log{suffix}", data[1:])
    options: dict[str, Any] = {"format": format, "length": length, "on_bad_row": on_bad_row, "time_unit": 0.5}
    if format == "plain":
        options |= {"length": "total", "time_unit": None}
    found = outcome(partial(read_requests, path, **options), path)
    blocks = outcome(lambda: list(LogStream(path, **options).blocks()), path)
    if found is None:
        return
    workload, report = found
    check_workload(workload)
    assert report.kept == len(workload)
    assert report.rows_read == report.kept + sum(report.dropped.values())
    assert all(count > 0 for count in report.dropped.values())
    assert on_bad_row == "drop" or not report.dropped
    if blocks is not None and not report.out_of_order and not report.dropped:
        assert sum(map(len, blocks)) == len(workload)
        assert np.concatenate([block.release for block in blocks]).tolist() == workload.release.tolist()
        assert np.concatenate([block.length for block in blocks]).tolist() == workload.length.tolist()


def _round_trip(data: bytes) -> None:
    """What is read, written and read again is the same."""
    suffix = _SUFFIXES[(data[0] if data else 0) % len(_SUFFIXES)]
    path = _file(f"workload{suffix}", data[1:])
    found = outcome(partial(read_workload, path, on_bad_row="drop"), path)
    if found is None:
        return
    for written in (".csv", ".jsonl", ".parquet"):
        copy = FOLDER / f"copy{written}"
        write_workload(found[0], copy)
        again, _ = read_workload(copy)
        for name in ("release", "length", "request_id", "tenant", "model", "prompt_tokens", "upper"):
            ours, theirs = getattr(found[0], name), getattr(again, name)
            assert (ours is None) == (theirs is None), name
            assert ours is None or ours.tolist() == theirs.tolist(), name


def _lengths_of_file(data: bytes) -> None:
    suffix = _SUFFIXES[(data[0] if data else 0) % len(_SUFFIXES)]
    path = _file(f"counts{suffix}", data[1:])
    columns = outcome(partial(read_lengths, path), path)
    assert columns is None or all(len(each) for each in columns.values())


def _steps(data: bytes) -> None:
    on_bad_row: Literal["error", "drop"] = "drop" if data[:1] > b"\x7f" else "error"
    path = _file("steps.csv", data[1:])
    found = outcome(partial(read_steps, path, on_bad_row=on_bad_row), path)
    if found is not None:
        steps, report = found
        assert report.rows_read == len(steps) + sum(report.dropped.values())
        assert np.isfinite(steps.design).all()


def _servegen(data: bytes) -> None:
    """The files of a client, one after the other with a zero byte between them."""
    windows, _, tables = data.partition(b"\0")
    folder = FOLDER / "servegen"
    folder.mkdir(exist_ok=True)
    (folder / "chunk-1-trace.csv").write_bytes(windows)
    (folder / "chunk-1-dataset.json").write_bytes(tables)
    clients = outcome(partial(read_servegen, folder), folder)
    if (
        clients is not None
        and sum(w.rate * (w.end - w.begin) for each in clients for w in each.windows) < 1e4
    ):
        sends = partial(client_workload, clients, begin=0, duration=1e4, time_unit=1, seed=1)
        made = outcome(sends)
        if made is not None:
            check_workload(made)


def _clients(data: bytes) -> None:
    path = _file("clients.toml", data)
    outcome(partial(read_clients, path), path)


def _specification(data: bytes) -> None:
    path = _file("workload.toml", data)
    found = outcome(partial(read_specification, path), path)
    if found is not None and found.num_prompts < 10_000:
        made = outcome(partial(found.workload, 1))
        if made is not None:
            check_workload(made)


def _tariffs(data: bytes) -> None:
    path = _file("tariffs.csv", data)
    outcome(partial(read_tariffs, path), path)


def _study(data: bytes) -> None:
    path = _file("study.toml", data)
    with without_modules():
        found = outcome(partial(read_study, path), path)
    if found is not None and len(found.cells) < 1000:
        keys = [cell.key for cell in found.cells]
        assert len(set(keys)) == len(keys)


def _store(data: bytes) -> None:
    path = _file("store.sqlite", data)
    for suffix in ("-wal", "-shm", "-journal"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    outcome(partial(kept_cells, path), path)


def _policy(data: bytes) -> None:
    with without_modules():
        policy = outcome(lambda: parse_policy(_text(data)))
        if policy is not None:
            said = policy.describe()
            assert parse_policy(said).describe() == said


@contextmanager
def without_modules() -> Iterator[None]:
    """No module but the project's own: others may do anything as they are imported."""

    def load(name: str) -> Any:  # noqa: ANN401  (a module)
        if not name.startswith(("policies.", "workloads.")):
            raise ImportError(f"No module named {name!r}")
        return import_module(name)

    with mock.patch("serving_sim.by_name.import_module", load):
        yield


def _lengths(data: bytes) -> None:
    text = _text(data)
    with without_modules():
        lengths = outcome(lambda: parse_lengths(text), given=text)
    if lengths is not None:
        assert lengths.mean >= 1
        drawn = outcome(lambda: lengths.sample(8, np.random.default_rng(1)))
        assert drawn is None or (drawn >= 1).all()


def _arrivals(data: bytes) -> None:
    with without_modules():
        process = outcome(lambda: parse_arrivals(_text(data), rate=0.5))
    if process is not None:
        releases = outcome(lambda: process.releases(8, np.random.default_rng(1)))
        assert releases is None or (len(releases) == 8 and (np.diff(releases) >= 0).all())


def _predictions(data: bytes) -> None:
    with without_modules():
        model = outcome(lambda: parse_predictions(_text(data)))
    if model is not None:
        workload, _ = read_workload(
            _file("predicted.csv", b"release,length\n0,1\n1,1000\n2,4611686018427387904\n")
        )
        found = outcome(lambda: predict(workload, model, 1))
        if found is not None:
            assert found.lower is not None
            assert found.upper is not None
            assert ((found.lower >= 1) & (found.lower <= found.length) & (found.length <= found.upper)).all()


_OPTIONS: tuple[Callable[[str], object], ...] = (
    lambda text: quantiles(parsing.parse_percentiles(text)),
    parsing.parse_warmup,
    parsing.parse_loads,
    parsing.parse_share,
    parsing.parse_targets,
    parsing.parse_objectives,
    parsing.parse_step_time,
    parsing.parse_window,
    parsing.parse_beta,
    lambda text: parsing.parse_duration("for", text, 0.5),
    lambda text: parsing.parse_duration("for", text, None),
)


def _option(data: bytes) -> None:
    parse = _OPTIONS[(data[0] if data else 0) % len(_OPTIONS)]
    outcome(lambda: parse(_text(data[1:])))


def _text(data: bytes) -> str:
    """A text as a shell hands it over: what is no UTF-8 becomes lone surrogates."""
    return data.decode("utf-8", "surrogateescape")


TARGETS: Mapping[str, Target] = {
    **{name: partial(_log, format=name) for name in (*FORMATS.targets, "auto")},
    "round-trip": _round_trip,
    "counts": _lengths_of_file,
    "steps": _steps,
    "servegen": _servegen,
    "clients": _clients,
    "specification": _specification,
    "tariffs": _tariffs,
    "study": _study,
    "store": _store,
    "policy": _policy,
    "lengths": _lengths,
    "arrivals": _arrivals,
    "predictions": _predictions,
    "option": _option,
}
"""By name: the formats of request logs, the other files, and the texts of the command line."""


def _parquet(**columns: object) -> bytes:
    sink = pa.BufferOutputStream()
    parquet.write_table(pa.table(columns), sink)
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]


def _stored() -> bytes:
    """A store that holds cells."""
    path = _file(
        "seed.toml", b'policy = "fcfs"\nslots = [1, 2]\nlengths = "lmsys-like"\nnum-prompts = 9\nload = 1\n'
    )
    one, other = read_study(path).cells
    with Store(path.with_suffix(".sqlite")) as store:
        store.keep(one, Result(row='{"E": 1, "makespan": 2.5}'))
        store.keep(other, Result(error="a broken cell"))
    return path.with_suffix(".sqlite").read_bytes()


_PLAIN = (
    b"\0release,length\n0,10\n0.5,7\n",
    b'\0release,length,request_id,tenant,lower,upper\r\n1.5,3,"a,b",x,1,9\r\n0,1,c," y",1,1\r\n',
    b'\1{"release": 0, "length": 3, "tenant": "a"}\n{"release": 1e3, "length": 4, "tenant": "\\u00e9"}\n',
    b'\2[{"release": 0, "length": 3, "prompt_tokens": 2, "output_tokens": 1}]',
    b"\4" + _parquet(release=[0.0, 1.0], length=[3, 4], model=["m", None]),
)
_TABLES = {"0": {"input_tokens": "{100: 0.25, 200: 0.75}", "output_tokens": "{5: 1.0}"}}


def _choice(suffix: str, on_bad_row: str) -> bytes:
    return bytes([_READINGS.index(("total", on_bad_row, suffix))])


def _seeds_of_logs() -> dict[str, tuple[bytes, ...]]:
    seeds: dict[str, tuple[bytes, ...]] = {"plain": _PLAIN}
    for sample in SAMPLES:
        content = sample.content.encode()
        files = tuple(_choice(sample.suffix, rule) + content for rule in ("error", "drop"))
        for name in (sample.format, "auto"):
            seeds[name] = (*seeds.get(name, ()), *files)
    return seeds


SEEDS: Mapping[str, tuple[bytes, ...]] = {
    **_seeds_of_logs(),
    "round-trip": _PLAIN,
    "counts": (
        b"\0input_tokens,output_tokens\n5,6\n7,8\n",
        b'\2[{"prompt_tokens": 3, "completion_tokens": 4}]',
        *_PLAIN,
    ),
    "steps": (b"\0batch_size,max_kv_tokens,sum_kv_tokens,milliseconds\n1,10,10,5.5\n2,10,15,6\n",),
    "servegen": (
        b"0,2.0,2.5,Gamma,0.16,6.25\n600,0,0,,0,0\r\n1200,0.5,797,Weibull,0.16,0.000573\n\0"
        + json.dumps(_TABLES).encode(),
    ),
    "clients": (
        (
            b'[[client]]\nname = "a"\nrate = 0.5\nlengths = "fixed:length=3"\nburstiness = 0.5\n'
            b'[[client]]\nname = "b"\nrate = 1\nlengths = "geometric:mean=9"\n'
        ),
    ),
    "specification": (
        (
            b'num-prompts = 20\nlengths = "uniform:low=1,high=9"\narrivals = "gamma:burstiness=2"\n'
            b"request-rate = 0.5\ntime-unit = 0.03\n"
        ),
    ),
    "tariffs": (b"tariff,input,output,cached\nlist,3,15,0.3\nours,1,2,\n",),
    "study": (
        (
            b'policy = ["fcfs", "isjl:beta=optimal"]\nalpha = [4, 8]\nslots = [1, 2]\nload = [0.5, 0.7]\n'
            b'lengths = ["uniform:low=1,high=9"]\nnum-prompts = 20\npercentiles = [50, 90.5]\n'
            b"replications = 2\nseed = 3\nwarmup = 4\ngoodput = { e2el = 20 }\nstep-time = { base = 2 }\n"
        ),
        (
            b'policy = "sjf"\nslots = 2\nrequests = "study.toml"\nformat = "azure"\nlength = "output"\n'
            b'time-unit = 0.5\non-bad-row = "drop"\n'
        ),
        b'policy = "sjf"\nslots = 2\nworkload = ["study.toml"]\n',
    ),
    "store": (_stored(),),
    "policy": (
        b"fcfs",
        b"fair-lpt:alpha=4",
        b"isjl:alpha=8,beta=optimal",
        b"delayed:x=0.618,inner=(windowed:w=2,inner=(isjl:alpha=4))",
        b"bucketed:k=3",
        b"robust-isjl:alpha=4,beta=2",
        b"isjl-as-printed:alpha=4",
        b"module:Class:key=1",
    ),
    "lengths": (
        b"fixed:length=3",
        b"uniform:low=1,high=9",
        b"geometric:mean=128",
        b"lognormal:mean=100,cv=1.5",
        b"lmsys-like",
        b"listed:values=1+5+9",
        b"quantiles:knots=1+5+9.5",
        b"prompt-output:prompt=fixed,output=geometric",
        b"empirical:file=workload.csv,column=length",
    ),
    "arrivals": (
        b"backlog",
        b"fixed:rate=2",
        b"poisson",
        b"gamma:burstiness=0.5",
        b"weibull:burstiness=0.5",
        b"hyperexponential:scv=4",
        b"mmpp:rate=0.5",
        b"sinusoidal:amplitude=0.5,period=100",
        b"piecewise:levels=1+0+2.5,duration=10",
        b"profile:levels=1+4,duration=10,gaps=0+1+3",
        b"batch:size=4",
        b"geometric-batch:mean=4",
        b"piecewise:lev\x0bels=0,lev\x0bels=1",
    ),
    "predictions": (
        b"exact",
        b"noise:kappa=0.5",
        b"slack:tokens=7",
        b"quantile:q=0.9,by=tenant",
        b"limit:tokens=4611686018427387904",
        b"columns",
        b"quantile:b\x1dy=9,b\x1dy=9",
    ),
    "option": (
        b"\x0050,90,99.9",
        b"\1auto",
        b"\x020.5,0.8",
        b"\x0399%",
        b"\4e2el.p99:5%,ttft.mean:2%",
        b"\4ttft.\rp99:0%",
        b"\4ttft.\rp99:5%,ttft.\rp99:5%",
        b"\5ttft:200,e2el:1000",
        b"\5tt\rft:200,tt\rft:1000",
        b"\6base=1,per_token=0.01",
        b"\x0710:20",
        b"\x08optimal",
        b"\x0910min",
        b"\x0a1.5",
    ),
}
"""Inputs to begin with, by target; most are accepted."""
