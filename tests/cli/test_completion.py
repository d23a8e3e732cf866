"""Completion: what a shell is given of the commands, their options and the paths of fields."""

from __future__ import annotations

import os
import re
import select
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.program import python
from tests.conftest import ROOT
from tests.internals.cli import complete_paths
from tests.servers import PATIENCE


def test_a_shell_is_given_the_names_that_may_follow() -> None:
    for typed, value in (("loo", "lookup"), ("lookup --format ta", "table")):
        done = python(
            "import sys; sys.argv[0] = 'geolookup'; from geolookup.cli import main; main()",
            _GEOLOOKUP_COMPLETE="bash_complete",
            COMP_WORDS=f"geolookup {typed}",
            COMP_CWORD=str(len(typed.split())),
        )
        assert f"plain,{value}" in done.stdout.splitlines()


#: The name of a shell's file, and what is around the line of the page in it. A function takes the
#: place of the program and prints its arguments; completion asks the program by ``env``.
_FUNCTION = "geolookup() { printf 'given:%s;\\n' \"$*\"; }\nPS1=ready:\n"
_FISH = "function geolookup; printf 'given:%s;\\n' \"$argv\"; end\n"
_FILES = {
    "bash": (".bashrc", "{}" + _FUNCTION),
    "zsh": (".zshrc", "autoload -Uz compinit && compinit -u -D\n{}" + _FUNCTION),
    "fish": ("fish/config.fish", "{}" + _FISH + "function fish_prompt; echo -n ready:; end\n"),
}


@contextmanager
def interactive(shell: str, home: Path) -> Iterator[Callable[[str], str]]:
    """Start a shell that has read the line of ``docs/use/shell.md``, on a terminal.

    Yields a function that types a text, waits for the output of a command, and returns it.
    """
    pty = pytest.importorskip("pty")
    page = (ROOT / "docs" / "use" / "shell.md").read_text(encoding="utf-8")
    (line,) = re.findall(rf"\*\*{shell}\*\*.*?```{shell}\n(.*?)```", page, re.DOTALL)
    name, text = _FILES[shell]
    (home / name).parent.mkdir(exist_ok=True)
    (home / name).write_text(text.replace("{}", line, 1), encoding="utf-8")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    homes = dict.fromkeys(("HOME", "ZDOTDIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME"), str(home))
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        ["setsid", "--ctty", shell, "-i"],  # fish refuses a terminal that does not control it
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=home,
        env={**os.environ, **homes, "PATH": path, "PYTHONPATH": str(ROOT), "TERM": "xterm"},
    )
    os.close(theirs)

    def output(typed: str) -> str:
        os.write(ours, typed.encode())
        written = ""
        while not (match := re.search(r"given:(.*?)[ /]?;.*ready:", written, re.DOTALL)):
            assert select.select([ours], [], [], PATIENCE)[0], written
            written += os.read(ours, 4096).decode()
        return match[1]

    try:
        yield output
    finally:
        process.kill()
        process.wait()
        os.close(ours)


@pytest.mark.long
@pytest.mark.skipif(shutil.which("setsid") is None, reason="no setsid here")
@pytest.mark.parametrize("shell", _FILES)
def test_a_shell_completes(shell: str, tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} here")
    (tmp_path / "some-dataset").mkdir()
    with interactive(shell, tmp_path) as output:
        assert output("geolookup ready\n") == "ready"
        for typed, value in (
            ("loo", "lookup"),
            ("8.8.8.8 --form", "8.8.8.8 --format"),
            ("lookup --format ta", "lookup --format table"),
            ("lookup -f asn_", "lookup -f asn_organization"),
            ("info some-d", "info some-dataset"),
        ):
            assert output(f"geolookup {typed}\t\n") == value


def test_the_last_path_of_fields_is_completed() -> None:
    result = complete_paths(None, None, "ip,network.as")
    assert result == ["ip,network.asn", "ip,network.asn_organization"]
    assert "location" in complete_paths(None, None, "")
