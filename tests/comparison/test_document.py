"""docs/diff.md is true: its sessions print what they show, its tables name what JSON has."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

from geolookup.comparison import Comparison, Part
from tests.conftest import ROOT
from tests.sessions import run, sessions

TEXT = (ROOT / "docs" / "diff.md").read_text(encoding="utf-8")
_BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_sessions_print_what_is_shown(tmp_path: Path) -> None:
    found: list[tuple[str, str]] = []
    for kind, name, text in _BLOCK.findall(TEXT):
        if name:
            (tmp_path / name).write_text(text, encoding="utf-8")
        if kind == "console":
            found += sessions(text)
    assert len(found) == 4
    for command, shown in found:
        done = run(command, tmp_path)
        assert done.stderr == ""
        pattern = r"[\s\S]*?".join(re.escape(part) for part in shown.strip().split("…"))
        assert re.fullmatch(pattern, done.stdout.strip()), (command, done.stdout)


def test_keys_of_the_json_are_told() -> None:
    section = TEXT.split("\n## JSON\n")[1].split("\n## ")[0]
    told = {
        name
        for row in re.findall(r"^\| (`[^|]+) \|", section, re.MULTILINE)
        for name in re.findall(r"`(\w+)`", row)
    }
    assert told == {field.name for kind in (Comparison, Part) for field in fields(kind)} | {"gates"}
