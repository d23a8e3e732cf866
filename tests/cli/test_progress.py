"""Long work shows its progress on a terminal: rows or bytes, or the stage that runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.program import run
from tests.cli.terminals import terminal
from tests.tiers import one_of_each

#: What erases the line of the progress.
_ERASE = "\r\x1b[K"
#: Each command that can run for more than two seconds: its arguments, and part of its progress.
COMMANDS = {
    "enrich": ("in.csv -o out.csv", "2 rows  "),
    "summarize": ("in.csv --json", "2 rows  "),
    "map": ("in.csv -o map.html", "2 rows  "),
    "grep": ("in.csv --count --where country=US", "reading in.csv  19 of 19 bytes"),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in.csv").write_text("ip\n8.8.8.8\n1.1.1.1\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("command", one_of_each(COMMANDS, kind=lambda _command: "progress"))
def test_progress_is_on_a_terminal_only(command: str, folder: Path) -> None:
    arguments, shown = COMMANDS[command]
    words = [*command.split(), *arguments.split()]
    written, status = terminal(*words, folder=folder)
    drawn = written.split(_ERASE)
    assert status == 0, written
    assert any(shown in line for line in drawn), drawn
    assert shown not in drawn[-1], "the line is erased in the end"
    for output in folder.glob("*out*"):
        output.unlink()
    done = run(*words, *(["--force"] if "-o" in words else []), folder=folder)
    assert done.returncode == 0, done.stderr
    assert "\r" not in done.stderr
