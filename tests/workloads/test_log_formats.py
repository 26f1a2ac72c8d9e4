"""Every format of request logs, in a small file that holds its irregularities."""

from __future__ import annotations

from pathlib import Path

import pytest
from log_samples import SAMPLES, Sample
from refusal import refusal

from serving_sim import Workload
from workloads import ReadReport, read_requests, read_workload, write_workload
from workloads.traces import FORMATS


def write(folder: Path, suffix: str, content: str) -> Path:
    path = folder / f"log{suffix}"
    path.write_bytes(content.encode())
    return path


def read(path: Path, **options: object) -> tuple[Workload, ReadReport]:
    return read_requests(path, **{"time_unit": 1, **options})  # type: ignore[arg-type]


def columns(workload: Workload) -> tuple[list[object] | None, ...]:
    found = (
        workload.release,
        workload.prompt_tokens,
        workload.output_tokens,
        workload.tenant,
        workload.model,
    )
    return tuple(None if column is None else column.tolist() for column in found)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.format)
def test_what_a_file_of_each_format_holds(tmp_path: Path, sample: Sample) -> None:
    path = write(tmp_path, sample.suffix, sample.content)
    workload, report = read(path, format=sample.format if sample.by_name else "auto")
    assert columns(workload) == (sample.release, sample.prompt, sample.output, sample.tenant, sample.model)
    assert workload.length.tolist() == [
        prompt + output for prompt, output in zip(sample.prompt, sample.output, strict=True)
    ]
    assert (report.format, report.rows_read, report.kept) == (
        sample.format,
        len(sample.prompt),
        len(workload),
    )
    plain = tmp_path / "plain.csv"
    write_workload(workload, plain)
    assert columns(read_workload(plain)[0]) == columns(workload)


def test_every_format_has_a_sample() -> None:
    assert {sample.format for sample in SAMPLES} == set(FORMATS.targets) - {"plain"}


BURST = "Timestamp,Model,Request tokens,Response tokens\n"
MOON = '{"timestamp": 0, "input_length": 1, "output_length": 1}\n'
ANSWERED = "must be >= 1, a request without an answer failed"
PULSE = '{"timestamp": "27", "input_length": 1, "output_length": 1, "hash_ids": {}, "session_id": "s"}\n'
LATER_TURN = "must be absent, as a later turn waits for the answer before it and has no time of its own"


@pytest.mark.parametrize(
    ("suffix", "content", "message"),
    [
        (
            ".csv",
            "arrival_s,input_tokens,output_tokens\n1.7e12,1,1\n",
            "line 2: arrival_s='1.7e12': must be within 2**62 nanoseconds (146 years) of 0",
        ),
        (
            ".jsonl",
            '{"timestamp": 1740819600, "prompt_tokens": 7, "completion_tokens": 3}\n',
            "line 1: timestamp=1740819600: must be a date and time such as 2023-11-16 18:15:46.6805900",
        ),
        (
            ".jsonl",
            '{"timestamp": "2025-03-01 09:00:00Z", "prompt_tokens": 1, "completion_tokens": 1, "user": [1]}',
            "line 1: user=[1]: must be a text",
        ),
        (
            ".csv",
            "TIMESTAMP,NumImages,ContextTokens,GeneratedTokens\n15:46.7,1,1,1\n",
            "line 2: TIMESTAMP='15:46.7': must hold date and hour, which a spreadsheet program has cut off",
        ),
        (".csv", BURST + "5,GPT-4,3,1\n6,GPT-4,0,0\n", f"line 3: Response tokens='0': {ANSWERED}"),
        (".csv", BURST + "5,GPT-4,3,0\n", f"line 2: Response tokens='0': {ANSWERED}"),
        (
            ".jsonl",
            MOON + '{"timestamp": 1, "input_length": 2}\n',
            "line 2: output_length=None: must be a number",
        ),
        (
            ".jsonl",
            MOON + '{"input_length": 2, "output_length": 1, "delay": 100}\n',
            f"line 2: delay=100: {LATER_TURN}",
        ),
        (
            ".jsonl",
            (
                '{"arrival_time_ns": 1, "input_toks": 1, "output_toks": 1}\n'
                '{"arrival_time_ns": 2, "session_id": "s", "sub_requests": [{"input_toks": 3}]}\n'
            ),
            (
                "line 2: sub_requests=[{'input_toks': 3}]: "
                "must be absent, as chained calls wait for each other and have no times of their own"
            ),
        ),
        (
            ".csv",
            "arrival_s,input_tokens,output_tokens\n0,0x10,1\n",
            "line 2: input_tokens='0x10': must be a number",
        ),
        *(
            (
                ".csv",
                f"TIMESTAMP,ContextTokens,GeneratedTokens\n{stamp},1,1\n",
                f"line 2: TIMESTAMP='{stamp}': must be a date and time such as 2023-11-16 18:15:46.6805900",
            )
            for stamp in ("2023-11-16", "2023-11-16 18", "2023-11-16 18:15", "2023-11-16 18:15+01:00")
        ),
        (
            ".csv",
            "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46,1,1\n1723-11-16 18:15:46,1,1\n",
            "line 3: TIMESTAMP='1723-11-16 18:15:46': must lie within 146 years of 1970",
        ),
        (
            ".jsonl",
            PULSE.replace('"27"', "27"),
            (
                "line 1: timestamp=27: "
                "must be a text, as RAGPulse writes seconds; numbers are milliseconds of aiperf"
            ),
        ),
        (
            ".jsonl",
            PULSE + PULSE.replace("27", "604453") + PULSE.replace("27", "0") + PULSE.replace("27", "1"),
            (
                "line 3: timestamp='0': must not be before the rows above, "
                "the clock starts anew here: make two files of it"
            ),
        ),
        (
            ".json",
            '{"start_times": [1, 2], "input_lens": [3, 4], "output_lens": [5, 0], "errors": ["", "Traceback'
            " (most recent call last):\\n" + "x" * 500 + '"]}',
            (
                f"request 2: errors='Traceback (most recent call last):\\n{'x' * 63}..: "
                "must be empty, the request failed"
            ),
        ),
        (
            ".json",
            '{"start_times": [1, 2], "input_lens": [3, 4], "output_lens": [5]}',
            "output_lens: must be as long as start_times, found 1 items for 2",
        ),
        (
            ".json",
            '{"start_times": [1, 2], "input_lens": 7, "output_lens": [5]}',
            "input_lens=7: must be a list",
        ),
        (
            ".json",
            '{"start_times": [1], "input_lens": [1], "output_lens": [5]}\n' * 2,
            "must hold one object, found 2 lines",
        ),
        (
            ".json",
            '{"start_times": [1, "x"], "input_lens": [1, 1], "output_lens": [5, 5]}\n',
            "request 2: start_times='x': must be a number",
        ),
        (
            ".json",
            '[{"id": "a", "conversations": [{"from": "human", "value": "Hello"}]}]',
            (
                "must hold counts of tokens, found texts of conversations; "
                "count them with the tokenizer of a model first"
            ),
        ),
        (
            ".csv",
            "arrival_time_us,input_tokens,output_tokens\n0,0,5\n",
            "line 2: input_tokens='0': must be >= 1, the prompt was not counted",
        ),
    ],
)
def test_refusals_of_a_format_alone(tmp_path: Path, suffix: str, content: str, message: str) -> None:
    path = write(tmp_path, suffix, content)
    assert refusal(lambda: read(path)) == f"{path}: {message}"


def test_failed_requests_can_be_dropped_and_are_counted(tmp_path: Path) -> None:
    path = write(tmp_path, ".csv", BURST + "5,a,0,0\n6,b,3,1\n7,a,0,0\n8,b,4,0\n9,b,5,2\n")
    workload, report = read(path, on_bad_row="drop")
    assert workload.release.tolist() == [0, 3]
    assert (report.rows_read, report.kept) == (5, 2)
    assert report.dropped == {f"Response tokens: {ANSWERED}": 3}
