"""Every command and script on a page runs, and prints what the page shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from command_line import Command
from docs_script import docs_script

transcripts = docs_script("transcripts")


@pytest.mark.parametrize("page", transcripts.PAGES, ids=transcripts.name)
def test_pages_show_what_is_printed(page: Path) -> None:
    assert transcripts.replay(page) == page.read_text(encoding="utf-8"), f"python docs/transcripts.py {page}"


def test_the_page_of_public_traces_shows_what_they_give(
    shared: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(shared / "traces" / "azure2023")
    parts = transcripts.parts(transcripts.ROOT / "docs" / "how-to" / "your-own-trace.md")
    (typed,) = [
        part for part in parts if part.startswith("serving-sim compare") and part.endswith("--out code")
    ]
    (table,) = [part for part in parts if part.startswith("AzureLLMInferenceTrace_code.csv")]
    words = typed.replace("\\\n", " ").removesuffix("--out code").removeprefix("serving-sim")
    code, out, err = command(words)
    assert code == 0
    assert [line for line in table.splitlines() if line not in out + err] == []


def test_what_is_not_run_is_there() -> None:
    parts = {transcripts.name(page): transcripts.parts(page) for page in transcripts.PAGES}
    stale = [
        (page, beginning)
        for page, reasons in transcripts.NOT_RUN.items()
        for beginning in reasons
        if not any(part.startswith(beginning) for part in parts.get(page, ()))
    ]
    assert stale == []


A_FILE = """\
`a/b.toml`

```toml
x = 1
```

```python
from pathlib import Path
print(Path("a/b.toml").read_text())
```

```text
```
"""


@pytest.mark.parametrize(
    ("page", "shown"),
    [
        ("```python\nx = 1\n```\n```python\nprint(x)\n```\n```text\n2\n```\n", "```text\n1\n```"),
        (A_FILE, "```text\nx = 1\n\n```"),
        ("```console\n$ serving-sim \\\n   policies\nold\n```\n", "$ serving-sim \\\n   policies\npolicies"),
    ],
    ids=["a session of scripts", "a file", "a transcript"],
)
def test_what_is_printed_takes_the_place_of_what_stood_there(page: str, shown: str) -> None:
    assert shown in transcripts.play(page, "page.md")


@pytest.mark.parametrize(
    ("page", "message"),
    [
        ("    serving-sim policies\n\n```text\n9.9\n```\n", "nothing prints\n9.9\nbut\npolicies"),
        ("```text\n9.9\n```\n", "nothing prints\n9.9\nbut\n"),
        ("```toml\nx = 1\n```\n", "a block of toml under no file's name does not run"),
        ("```\nserving-sim run\n```\n", "a block of code without a language"),
        ("    make test\n    serving-sim policies\n", "'make test' is not typed, so nothing beside it"),
        ("    make demo\n", "'make demo' is not typed: NOT_RUN must say why"),
        ("```sh\nserving-sim run --alpha x\n```\n", "'serving-sim run --alpha x' ends with exit code 2: "),
    ],
    ids=[
        "other output",
        "no command",
        "no file",
        "no language",
        "half a block",
        "another program",
        "failure",
    ],
)
def test_pages_that_do_not_hold_are_refused(page: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(transcripts.NOT_RUN, "page.md", {"make test": "takes minutes"})
    with pytest.raises(ValueError, match=f"^page.md: {re.escape(message)}"):
        transcripts.play(page, "page.md")


@pytest.mark.parametrize(
    ("page", "message"),
    [
        ("docs/none.md", "no such page"),
        ("docs", "no such page"),
        ("outside.md", "must be a page of this project"),
        ("quiet.md", "shows nothing that could be run"),
        ("bytes.md", "must be text in UTF-8"),
    ],
)
def test_a_page_that_cannot_be_written_anew_gets_one_line(
    page: str,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("outside.md").write_text("# Elsewhere\n", encoding="utf-8")
    Path("quiet.md").write_text("# Words alone\n", encoding="utf-8")
    Path("bytes.md").write_bytes(b"\xff")
    if page != "outside.md":
        monkeypatch.setattr(transcripts, "ROOT", tmp_path)
    assert transcripts.write([page]) == 2
    assert capsys.readouterr() == ("", f"transcripts: error: {page}: {message}\n")
