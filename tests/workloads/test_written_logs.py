"""Random logs in every format read as they were written; damaged ones never turn into other workloads."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_log_reader import DATES, UNITS, Requests, requests_in

from serving_sim import Workload
from workloads import ReadReport, read_requests
from workloads.traces import FORMATS, LogFormat

OF_LINES = ("mooncake", "aiperf", "vllm-timed", "bailian", "ragpulse", "llmservingsim")
OTHERS = [name for name in FORMATS.targets if name not in ("plain", "vllm-bench", *OF_LINES, *DATES)]
GROUPS = {"dates": DATES, "JSON lines": OF_LINES, "JSON lists": ("vllm-bench",), "numbers in CSV": OTHERS}
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LATEST = 4 * 10**18  # nanoseconds, in the year 2096


def known(name: str) -> LogFormat:
    return cast("LogFormat", FORMATS.load(name))


def kind(name: str) -> str:
    """What container logs of a format come in."""
    if name == "vllm-bench":
        return "JSON lists"
    return "JSON lines" if name in OF_LINES else "CSV"


def time_text(nanoseconds: int, name: str) -> str:
    """A time as logs of a format write it."""
    if name in DATES:
        moment = EPOCH + timedelta(seconds=nanoseconds // 10**9)
        return f"{moment:%Y-%m-%d %H:%M:%S}.{nanoseconds % 10**9:09}"
    whole, part = divmod(nanoseconds, UNITS.get(name, 10**9))
    digits = len(str(UNITS.get(name, 10**9))) - 1
    return f"{whole}.{part:0{digits}}".rstrip("0").rstrip(".")


@st.composite
def logs(draw: st.DrawFn, requests: Requests, name: str) -> bytes:
    """A log with these requests, columns in any order and others among them."""
    log = known(name)
    names = draw(st.permutations([*log.columns, "note"]))
    rows = [
        dict.fromkeys(names, "x") | {log.time: time_of(time, name), log.prompt: prompt, log.output: output}
        for time, prompt, output in requests
    ]
    text = {"CSV": _csv, "JSON lines": _lines, "JSON lists": _lists}[kind(name)](rows, names)
    if draw(st.booleans()):
        text = text.removesuffix("\n")
    return text.replace("\n", draw(st.sampled_from(["\n", "\r\n"]))).encode()


def time_of(nanoseconds: int, name: str) -> object:
    """A time as a value, a number in JSON but for RAGPulse."""
    text = time_text(nanoseconds, name)
    return text if kind(name) == "CSV" or name == "ragpulse" else json.loads(text)


def _lines(rows: list[dict[str, Any]], _: list[str]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def _lists(rows: list[dict[str, Any]], names: list[str]) -> str:
    return json.dumps({name: [row[name] for row in rows] for name in names} | {"model": "x"}) + "\n"


def _csv(rows: list[dict[str, Any]], names: list[str]) -> str:
    sink = io.StringIO(newline="")
    table = csv.DictWriter(sink, names, lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    return sink.getvalue()


@st.composite
def requests(draw: st.DrawFn, name: str) -> Requests:
    # JSON numbers with a fraction pass through floats, which tell microseconds apart until 2242.
    grid = 10**3 if kind(name) != "CSV" and name not in ("ragpulse", "llmservingsim") else 1
    times = draw(st.lists(st.integers(0, LATEST // grid), min_size=1, max_size=8))
    if name == "ragpulse":
        times.sort()
    tokens = st.integers(1 if name in ("burstgpt", "blis") else 0, 2**61)
    return [(time * grid, draw(tokens), draw(st.integers(1, 2**61))) for time in times]


def check(workload: Workload, rows: Requests) -> None:
    """Hold a workload against the requests of a log."""
    in_order = sorted(rows, key=lambda row: row[0])
    release = [(time - in_order[0][0]) / 10**9 for time, _, _ in in_order]
    np.testing.assert_allclose(workload.release, release, rtol=4e-16)  # one rounding in 2**53
    assert workload.prompt_tokens is not None
    assert workload.output_tokens is not None
    assert workload.prompt_tokens.tolist() == [prompt for _, prompt, _ in in_order]
    assert workload.output_tokens.tolist() == [output for _, _, output in in_order]
    assert workload.length.tolist() == [prompt + output for _, prompt, output in in_order]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("logs")


def path_of(folder: Path, name: str) -> Path:
    return folder / {"CSV": "log.csv", "JSON lines": "log.jsonl", "JSON lists": "log.json"}[kind(name)]


@pytest.mark.parametrize("group", GROUPS)
@given(data=st.data())
def test_what_is_written_is_read(folder: Path, group: str, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(GROUPS[group]))
    rows = data.draw(requests(name))
    path = path_of(folder, name)
    path.write_bytes(data.draw(logs(rows, name)))
    log = known(name)
    workload, report = read_requests(path, name if log.by_name_only else "auto", time_unit=1)
    assert (report.format, report.rows_read, report.kept) == (name, len(rows), len(rows))
    check(workload, rows)


BYTES = st.one_of(
    st.binary(min_size=1, max_size=3),
    st.sampled_from([b"\n", b"\r", b",", b'"', b"{", b"}", b"-", b".", b"e9", b"0x", b"nan", b"NaN", b"inf"]),
    st.sampled_from([b"9" * 25, b"1e400", b"null", b"true", b"\xff\xfe", b"\xc3", b"\x00", b"\\ud800", b" "]),
)


@st.composite
def damaged(draw: st.DrawFn, log: bytes) -> bytes:
    """The log after one to three accidents."""
    for _ in range(draw(st.integers(1, 3))):
        begin = draw(st.integers(0, len(log)))
        end = draw(st.integers(begin, min(len(log), begin + draw(st.sampled_from([0, 1, 1, 4, 60])))))
        accident = draw(st.sampled_from(["cut", "replace", "repeat", "encode"]))
        if accident == "cut":
            log = log[:begin]
        elif accident == "replace":
            log = log[:begin] + draw(BYTES) + log[end:]
        elif accident == "repeat":
            log = log[:end] + log[begin:]
        else:
            encoding = draw(st.sampled_from(["utf-16", "utf-8-sig", "utf-32-be"]))
            log = log.decode("latin-1").encode(encoding)
    return log


def read_or_refusal(path: Path, name: str) -> tuple[Workload, ReadReport] | str:
    try:
        return read_requests(path, name, time_unit=1)
    except ValueError as error:
        return str(error)


@pytest.mark.parametrize("group", GROUPS)
@given(data=st.data())
def test_a_damaged_log_is_refused_or_means_what_it_says(
    folder: Path, group: str, data: st.DataObject
) -> None:
    name = data.draw(st.sampled_from(GROUPS[group]))
    path = path_of(folder, name)
    log = data.draw(damaged(data.draw(logs(data.draw(requests(name)), name))))
    path.write_bytes(log)
    outcome = read_or_refusal(path, name)
    if isinstance(outcome, str):
        assert outcome.startswith(f"{path}: ")
        assert "\n" not in outcome
        return
    workload, report = outcome
    rows = requests_in(log, known(name), kind(name))
    assert report.rows_read == len(rows)
    check(workload, rows)
