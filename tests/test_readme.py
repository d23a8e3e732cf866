"""What the README shows is what happens: its files are written, its commands run, in order.

An ellipsis stands for what differs from run to run, at the end of an output
for the rest of it.
"""

from __future__ import annotations

import doctest
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.sessions import run, sessions

README = (ROOT / "README.md").read_text(encoding="utf-8")
_BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def _blocks(kind: str) -> Iterator[tuple[str, str]]:
    for found, name, text in _BLOCK.findall(README):
        if found == kind:
            yield name, text


def _sessions() -> Iterator[tuple[str, str]]:
    for _, text in _blocks("console"):
        yield from sessions(text)


def _pattern(shown: str) -> str:
    """The shown output as a pattern; an ellipsis at its end stands for any lines."""
    parts = [re.escape(part) for part in shown.split("…")]
    return ".*".join(parts[:-1]) + r"[\s\S]*" if shown.endswith("…\n") else ".*".join(parts)


def test_console_sessions_print_what_is_shown(tmp_path: Path) -> None:
    for kind in ("toml", "csv"):
        for name, text in _blocks(kind):
            (tmp_path / name).write_text(text, encoding="utf-8")
    found = list(_sessions())
    assert len(found) >= 4
    for command, shown in found:
        done = run(command, tmp_path)
        assert done.returncode == 0, done.stderr
        assert re.fullmatch(_pattern(shown), done.stdout), (command, done.stdout)


def test_python_sessions_print_what_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.delenv("GEOLOOKUP_DATASET")
    text = "\n".join(text for _, text in _blocks("python"))
    test = doctest.DocTestParser().get_doctest(text, {}, "README.md", "README.md", 0)
    runner = doctest.DocTestRunner()
    runner.run(test)
    assert runner.tries > 5
    assert runner.failures == 0


def test_the_two_commands_of_the_start() -> None:
    commands = [text.strip() for _, text in _blocks("sh")]
    assert len(commands) == 2
    assert commands[0].endswith("geolookup lookup 8.8.8.8")
    assert commands[1].endswith("-m pytest -q -n 2 --dist worksteal")
