"""A moment of fuzzing; `make fuzz` and the profile ``soak`` take hours."""

from __future__ import annotations

import sys

import fuzz
import pytest
from fuzz_targets import SEEDS, TARGETS
from hypothesis import given, settings
from hypothesis import strategies as st

_TOKENS = (
    b"\n", b"\r", b",", b'"', b"'", b"{", b"}", b"[", b"]", b":", b"=", b"(", b")", b"+", b"-", b"0",
    b"\0", b"\xff", b"\xef\xbb\xbf", b"nan", b"inf", b"1e999", b"-1", b"0x10", b"null", b"true",
    b"9" * 25, b"9" * 5000, b"[" * 3000, b'{"a":' * 3000, b"\\ud800", b"\\u0000", b"\xe2\x80\xa8",
    b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PAR1", b"../", b"*",
)  # fmt: skip


@st.composite
def changed(draw: st.DrawFn, target: str) -> bytes:
    """A seed of a target with a few edits."""
    data = draw(st.sampled_from(SEEDS[target]))
    for _ in range(draw(st.integers(0, 4))):
        begin = draw(st.integers(0, len(data)))
        end = min(len(data), begin + draw(st.sampled_from([0, 0, 1, 2, 8, 64])))
        piece = draw(st.sampled_from(_TOKENS) | st.binary(max_size=4) | st.just(data[begin:end] * 2))
        data = data[:begin] + piece + data[end:]
    return data


def test_every_target_has_seeds() -> None:
    assert set(SEEDS) == set(TARGETS)


@pytest.mark.parametrize("target", TARGETS)
def test_seeds_pass(target: str) -> None:
    for seed in SEEDS[target]:
        TARGETS[target](seed)


@pytest.mark.parametrize("target", TARGETS)
@settings(max_examples=settings().max_examples // 10)
@given(st.data())
def test_changed_seeds_are_read_or_refused(target: str, data: st.DataObject) -> None:
    TARGETS[target](data.draw(changed(target)))


def test_missing_atheris_is_said_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "atheris", None)
    monkeypatch.setattr(sys, "argv", ["fuzz.py"])
    assert fuzz.main() == 2
    assert capsys.readouterr() == (
        "",
        "fuzz.py: error: atheris is missing, get it with: pip install -e '.[fuzz]'\n",
    )
