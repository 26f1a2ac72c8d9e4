"""Files of token counts without times: no workload, but a distribution of lengths."""

from __future__ import annotations

from pathlib import Path

import pytest
from refusal import refusal

from workloads import parse_lengths, read_requests
from workloads.traces import read_lengths


def write(path: Path, content: str) -> Path:
    path.write_text(content, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "content",
    [
        "input_tokens,output_tokens\n37,34\n32,206\n",
        "num_prefill_tokens,num_decode_tokens,num_total_tokens,pd_ratio\n37,34,71,1.1\n32,206,238,0.2\n",
        '{"prompt_len": 37, "output_len": 34}\n{"prompt_len": 32, "output_len": 206}\n',
        "req_time_s,client,prompt_tokens,output_tokens\n1,a,37,34\n2,a,32,206\n",  # a log serves too
        "release,length,prompt_tokens,output_tokens\n1,71,37,34\n2,238,32,206\n",
    ],
)
def test_they_are_distributions(tmp_path: Path, content: str) -> None:
    path = write(tmp_path / "lengths", content)
    columns = {name: column.tolist() for name, column in read_lengths(path).items()}
    assert columns == {"length": [71, 238], "prompt_tokens": [37, 32], "output_tokens": [34, 206]}
    assert parse_lengths(f"empirical:file={path}").mean == 154.5
    assert parse_lengths(f"empirical:file={path},column=output_tokens").mean == 120


@pytest.mark.parametrize(
    "columns", [("input_tokens", "output_tokens"), ("release", "prompt_tokens", "output_tokens")]
)
def test_they_are_no_workload(tmp_path: Path, columns: tuple[str, ...]) -> None:
    path = write(tmp_path / "lengths.csv", f"{','.join(columns)}\n0,37,34\n")
    assert refusal(lambda: read_requests(path, time_unit=1)) == (
        f"{path}: must say when requests arrived, in the columns of one of the formats, such as "
        "plain (release, length) or generic (arrival_s, input_tokens, output_tokens); "
        f"found {', '.join(map(repr, columns))}; "
        f"lengths alone serve as the distribution of lengths empirical:file={path}"
    )


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("0,0", "length=0: must be from 1 to 2**62, counting prompt and output tokens"),
        ("-1,3", "input_tokens='-1': must be >= 0"),
        ("1,nan", "output_tokens='nan': must be a whole number"),
        ("1", "fields=1: must be 2, as in the header"),
    ],
)
def test_refused_rows(tmp_path: Path, row: str, message: str) -> None:
    path = write(tmp_path / "lengths.csv", f"input_tokens,output_tokens\n37,34\n{row}\n")
    assert refusal(lambda: read_lengths(path)) == f"{path}: line 3: {message}"


def test_the_file_that_looks_like_lmsys(shared: Path) -> None:
    path = shared / "traces" / "lmsys_like_2000" / "synthetic_2000.csv"
    if not path.exists():
        pytest.skip(f"no {path}")
    lengths = read_lengths(path)
    rows = [list(map(int, line.split(","))) for line in path.read_text(encoding="utf-8").split()[1:]]
    assert list(zip(lengths["prompt_tokens"], lengths["output_tokens"], strict=True)) == [*map(tuple, rows)]
