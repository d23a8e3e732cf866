"""Completion in real shells, as docs/use/shell.md sets it up, on a pseudo-terminal."""

from __future__ import annotations

import os
import re
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from geolookup.cli.options import complete_paths
from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "use" / "shell.md").read_text(encoding="utf-8")
_PATIENCE = 60.0
#: In the place of the program: prints its arguments. Completion asks the program by ``env``.
_ARGUMENTS = "geolookup() { printf 'given:%s;\\n' \"$*\"; }\n"
_PROMPT = "ready:"
_FISH_PROMPT = f"function fish_prompt; echo -n {_PROMPT}; end\nset fish_greeting\n"
#: The name of a shell's file, and what surrounds the line of the page in it.
_FILES = {
    "bash": (".bashrc", "{}" + _ARGUMENTS + f"PS1={_PROMPT}\n"),
    "zsh": (
        ".zshrc",
        "autoload -Uz compinit && compinit -u -D\n{}" + _ARGUMENTS + f"PS1={_PROMPT}\n",
    ),
    "fish": (
        "fish/config.fish",
        "{}function geolookup; printf 'given:%s;\\n' \"$argv\"; end\n" + _FISH_PROMPT,
    ),
}


def _stated(shell: str) -> str:
    """The line of the page for a shell."""
    match = re.search(rf"\*\*{shell}\*\*.*?```{shell}\n(.*?)```", PAGE, re.DOTALL)
    assert match
    return match[1]


class _Terminal:
    def __init__(self, end: int) -> None:
        self._end, self._text = end, ""

    def type(self, text: str) -> None:
        os.write(self._end, text.encode())

    def until(self, pattern: str) -> str:
        """Read until the pattern is there; return its group, and forget what was before it."""
        ends = time.monotonic() + _PATIENCE
        while not (match := re.search(pattern, self._text)):
            assert select.select([self._end], [], [], max(0.0, ends - time.monotonic()))[0], (
                self._text
            )
            self._text += os.read(self._end, 4096).decode()
        self._text = self._text[match.end() :]
        return match[match.re.groups]


@contextmanager
def interactive(shell: str, home: Path) -> Iterator[_Terminal]:
    """Start a shell that has read the line of the page."""
    pty = pytest.importorskip("pty")
    for program in (shell, "setsid"):
        if shutil.which(program) is None:
            pytest.skip(f"no {program} here")
    name, text = _FILES[shell]
    (home / name).parent.mkdir(exist_ok=True)
    (home / name).write_text(text.replace("{}", _stated(shell), 1), encoding="utf-8")
    places = [str(ROOT), str(ROOT / "builder")]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    homes = dict.fromkeys(("HOME", "ZDOTDIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME"), str(home))
    variables = {**homes, "PATH": path, "PYTHONPATH": os.pathsep.join(places), "TERM": "xterm"}
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        ["setsid", "--ctty", shell, "-i"],  # fish refuses a terminal that does not control it
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=home,
        env={**os.environ, **variables},
    )
    try:
        os.close(theirs)
        terminal = _Terminal(ours)
        terminal.until(_PROMPT)
        yield terminal
    finally:
        process.kill()
        process.wait()
        os.close(ours)


@pytest.mark.long
@pytest.mark.parametrize("shell", _FILES)
def test_a_shell_completes(shell: str, tmp_path: Path) -> None:
    (tmp_path / "some-dataset").mkdir()
    with interactive(shell, tmp_path) as terminal:
        for typed, value in (
            ("loo", "lookup"),
            ("8.8.8.8 --form", "8.8.8.8 --format"),
            ("lookup --format ta", "lookup --format table"),
            ("lookup -f asn_", "lookup -f asn_organization"),
            ("info some-d", "info some-dataset"),
        ):
            terminal.type(f"geolookup {typed}\t\n")
            assert terminal.until(r"given:(.*?)[ /]?;") == value
            terminal.until(_PROMPT)


def test_the_last_path_of_fields_is_completed() -> None:
    result = complete_paths(None, None, "ip,network.as")
    assert result == ["ip,network.asn", "ip,network.asn_organization"]
    assert "location" in complete_paths(None, None, "")
