"""What is written comes back to the last digit, in every kind of file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusal import refusal

from serving_sim import Workload
from workloads import read_workload, write_workload

SUFFIXES = (".csv", ".jsonl", ".parquet")
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\x00\r"), max_size=8)
TOKENS = st.integers(0, 2**62)


@st.composite
def workloads(draw: st.DrawFn) -> Workload:
    n = draw(st.integers(1, 12))

    def column(values: st.SearchStrategy[object], *, unique: bool = False) -> list[object]:
        return draw(st.lists(values, min_size=n, max_size=n, unique=unique))

    length = draw(st.lists(st.integers(1, 2**62), min_size=n, max_size=n))
    optional: dict[str, Callable[[], list[Any]]] = {
        "request_id": lambda: column(TEXTS, unique=True),
        "tenant": lambda: column(TEXTS),
        "prompt_tokens": lambda: column(TOKENS),
        "output_tokens": lambda: column(TOKENS),
        "lower": lambda: [draw(st.integers(1, size)) for size in length],
        "upper": lambda: [draw(st.integers(size, 2**62)) for size in length],
        "prompt_steps": lambda: [draw(st.integers(0, size)) for size in length],
        "model": lambda: column(TEXTS),
    }
    chosen = draw(st.sets(st.sampled_from(sorted(optional))))
    release = sorted(draw(st.lists(st.floats(0, 1e300), min_size=n, max_size=n)))
    return Workload(release, length, **{name: optional[name]() for name in sorted(chosen)})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("round_trip")


@pytest.mark.parametrize("suffix", SUFFIXES)
@given(workload=workloads())
def test_round_trip(folder: Path, suffix: str, workload: Workload) -> None:
    path = folder / f"w{suffix}"
    write_workload(workload, path)
    back, report = read_workload(path)
    assert report.kept == len(workload)
    for field in fields(Workload):
        before, after = getattr(workload, field.name), getattr(back, field.name)
        if before is None:
            assert after is None
        else:
            np.testing.assert_array_equal(after, before, err_msg=field.name)
            assert after.dtype == before.dtype
    assert [file.name for file in folder.iterdir() if file.suffix == ".part"] == []


def test_unknown_suffix(tmp_path: Path) -> None:
    path = tmp_path / "w.json"
    assert refusal(lambda: write_workload(Workload([0], [1]), path)) == (
        f"{path}: suffix='.json': is unknown; did you mean '.jsonl'? known: .csv, .jsonl, .parquet"
    )


def test_a_failed_write_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "w.jsonl"
    write_workload(Workload([0], [1]), path)
    before = path.read_bytes()

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("workloads.files.json.JSONEncoder.encode", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_workload(Workload([0, 1], [2, 3]), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@given(data=st.data())
def test_a_damaged_parquet_file_is_refused_or_reads_the_same(folder: Path, data: st.DataObject) -> None:
    path = folder / "damaged.parquet"
    workload = Workload([0, 0.5, 2], [3, 2**40, 7], tenant=["a", "bb", "a"])
    write_workload(workload, path)
    content = bytearray(path.read_bytes())
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] ^= data.draw(st.integers(1, 255))
    path.write_bytes(content)
    try:
        back, _ = read_workload(path)
    except ValueError as refused:
        said = str(refused)
    else:
        said = f"{path}: "
        assert back.tenant is None or back.tenant.tolist() == ["a", "bb", "a"]
        assert back.release.tolist() == [0, 0.5, 2]
        assert back.length.tolist() == [3, 2**40, 7]
    assert said.startswith(f"{path}: ")
    assert "\n" not in said
