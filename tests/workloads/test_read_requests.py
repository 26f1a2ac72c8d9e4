"""Formats of request logs: which one a file is, and how new ones join."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest
from refusal import refusal

from workloads import read_requests
from workloads.registry import GROUP, Registry
from workloads.traces import FORMATS, LogFormat
from workloads.traces.elapsed import milliseconds

AZURE = "TIMESTAMP,ContextTokens,GeneratedTokens\n2024-05-10 00:00:00,1,2\n"
PLAIN = "release,length\n0,3\n"
CHATS = "sent_ms,asked,answered,who\n1000,1,2,ann\n4000,3,4,bob\n"


CHAT_FORMAT = LogFormat(
    name="chats",
    summary="chats of a test",
    time="sent_ms",
    clock=milliseconds,
    prompt="asked",
    output="answered",
    tenant="who",
)


def write(path: Path, content: str) -> Path:
    path.write_text(content, encoding="utf-8")
    return path


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Pretend that packages with the given entry points are installed."""

    def install(**targets: str) -> None:
        found = EntryPoints(EntryPoint(name, value, GROUP) for name, value in targets.items())
        monkeypatch.setattr("workloads.registry.entry_points", lambda group: found.select(group=group))
        FORMATS.__dict__.pop("targets", None)

    yield install
    FORMATS.__dict__.pop("targets", None)


def test_auto_tells_formats_by_their_columns_and_says_so(tmp_path: Path) -> None:
    _, report = read_requests(write(tmp_path / "a.csv", AZURE), time_unit=1)
    assert report.format == "azure"
    assert report.notes == (
        "taken for azure (Azure LLM inference traces 2023 and 2024 (CSV)) by its columns",
    )
    workload, report = read_requests(write(tmp_path / "p.csv", PLAIN))
    assert report.format == "plain"
    assert workload.length.tolist() == [3]


def test_a_named_format_needs_no_note(tmp_path: Path) -> None:
    _, report = read_requests(write(tmp_path / "p.csv", PLAIN), "plain")
    assert report.notes == ()


def test_unknown_columns(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", "a,b\n1,2\n")
    assert refusal(lambda: read_requests(path)) == (
        f"{path}: format must be one of {', '.join(FORMATS.targets)}; none has the columns 'a', 'b'; "
        "simplest is generic: name three of them arrival_s, input_tokens, output_tokens"
    )


def test_a_file_of_two_formats_is_not_guessed(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", "release,length,TIMESTAMP,ContextTokens,GeneratedTokens\n")
    assert refusal(lambda: read_requests(path)) == (
        f"{path}: format could be any of plain, azure, name one; "
        "columns: 'release', 'length', 'TIMESTAMP', 'ContextTokens', 'GeneratedTokens'"
    )


def test_unknown_format_is_told_before_the_file_is_opened() -> None:
    assert refusal(lambda: read_requests("nowhere.csv", "azur")) == (
        f"format='azur': is unknown; did you mean 'azure'? known: {', '.join(FORMATS.targets)}"
    )


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        (
            AZURE,
            {},
            (
                "time_unit=None: must say how many seconds make a time unit for azure, "
                "on the command line with --time-unit"
            ),
        ),
        (AZURE, {"time_unit": 0}, "time_unit=0: must be a finite number of seconds > 0"),
        (
            AZURE,
            {"time_unit": 1, "length": "both"},
            "length='both': is unknown; known: total, output, prompt",
        ),
        (PLAIN, {"time_unit": 1}, "time_unit=1: a plain workload file is in time units"),
        (PLAIN, {"length": "output"}, "length='output': a plain workload file states its lengths"),
    ],
)
def test_refused_options(tmp_path: Path, content: str, options: dict[str, object], message: str) -> None:
    path = write(tmp_path / "x.csv", content)
    assert refusal(lambda: read_requests(path, **options)) == message  # type: ignore[arg-type]


def test_an_installed_format_is_found_by_name_and_by_its_columns(
    tmp_path: Path, installed: Callable[..., None]
) -> None:
    installed(**{"format.chats": f"{__name__}:CHAT_FORMAT", "lengths.zipf": "nowhere:Zipf"})
    path = write(tmp_path / "c.csv", CHATS)
    for format_name in ("chats", "auto"):
        workload, report = read_requests(path, format_name, time_unit=0.5)
        assert report.format == "chats"
        assert workload.release.tolist() == [0, 6]
        assert workload.length.tolist() == [3, 7]
        assert workload.tenant is not None
        assert workload.tenant.tolist() == ["ann", "bob"]


def test_a_taken_name_is_refused(installed: Callable[..., None]) -> None:
    installed(**{"format.azure": "other:FORMAT"})
    assert refusal(lambda: FORMATS.load("azure")) == (
        "format='azure': is defined twice, by workloads.traces.azure:AZURE and other:FORMAT"
    )


def test_a_registry_imports_nothing_until_asked() -> None:
    registry = Registry("thing", "things", {"broken": "no_such_module:THING"})
    assert list(registry.targets) == ["broken"]
    with pytest.raises(ModuleNotFoundError):
        registry.load("broken")
