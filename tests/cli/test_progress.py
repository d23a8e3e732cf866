"""Long work shows its progress on a terminal: rows or bytes, or the stage that runs."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import geolookup
from tests.cli.program import run
from tests.cli.terminals import terminal
from tests.conftest import build_at
from tests.tiers import one_of_each

#: What erases the line of the progress.
_ERASE = "\r\x1b[K"
#: Each command that can run for more than two seconds: its arguments, and part of its progress.
COMMANDS = {
    "enrich": ("in.csv -o out.csv", "answering  2 rows  "),
    "summarize": ("in.csv --json", "counting addresses  2 rows  "),
    "map": ("in.csv -o map.html", "counting addresses  2 rows  "),
    "build": ("in.toml -o out", "reading a.csv  "),
    "check": ("in.toml", "reading a.csv  "),
    "slice": ("data --family 4 -o out", "restricting test  "),
    "update": ("in.toml --store out", ", then publish"),
    "store publish": ("data --store out", "publish  "),
    "store verify": ("data", "verifying  "),
    "mirror write": ("store -o out", "packing  "),
    "mirror pack": ("data -o out.tar.zst", "packing  "),
    "mirror unpack": ("data.tar.zst -o out", "reading the archive  "),
    "export": ("data -o out.mmdb", "writing the search tree  "),
    "prefixes": ("country=US -d data -o out", "writing prefixes  "),
    "diff": ("data bundled", ", then counting changes"),
    "score": ("data --truth a.csv", "overlaying datasets  "),
    "report": ("data -o out.html", "drawing the page  "),
    "info": ("data", "counting known addresses  "),
    "history": ("8.8.8.8 -d store", "reading changes  "),
    "grep": ("in.csv --count --where country=US", "reading in.csv  19 of 19 bytes"),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in.csv").write_text("ip\n8.8.8.8\n1.1.1.1\n", encoding="utf-8")
    data, _ = build_at(tmp_path, {"a.csv": "network,country_code\n8.8.8.0/24,US\n"})
    data.rename(tmp_path / "data")
    (tmp_path / "recipe.toml").rename(tmp_path / "in.toml")
    geolookup.publish(tmp_path / "data", tmp_path / "store")
    geolookup.pack(tmp_path / "data", tmp_path / "data.tar.zst")
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
        shutil.rmtree(output) if output.is_dir() else output.unlink()
    done = run(*words, *(["--force"] if "map.html" in words else []), folder=folder)
    assert done.returncode == 0, done.stderr
    assert "\r" not in done.stderr
