"""Completion: what a shell is given of the commands, their options and the paths of fields."""

from __future__ import annotations

import os
import re
import select
import shutil
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.cli.program import python
from tests.conftest import ROOT
from tests.internals.cli import complete_paths
from tests.servers import PATIENCE


def test_a_shell_is_given_the_names_that_may_follow() -> None:
    for typed, value in (("loo", "lookup"), ("store pru", "prune"), ("help sto", "store")):
        done = python(
            "import sys; sys.argv[0] = 'geolookup'; from geolookup.cli import main; main()",
            _GEOLOOKUP_COMPLETE="bash_complete",
            COMP_WORDS=f"geolookup {typed}",
            COMP_CWORD=str(len(typed.split())),
        )
        assert done.stdout.splitlines() == [f"plain,{value}"]


#: The file of a shell. A function takes the place of the program and prints its arguments;
#: completion asks the program by ``env``.
_FUNCTION = "geolookup() { printf 'given:%s;\\n' \"$*\"; }\nPS1=ready:\n"
_FISH = """function geolookup; printf 'given:%s;\\n' "$argv"; end
function fish_prompt; echo -n ready:; end
"""
_FILES = {
    "bash": (".bashrc", "{}" + _FUNCTION),
    "zsh": (".zshrc", "autoload -Uz compinit && compinit -u -D\n{}" + _FUNCTION),
    "fish": ("fish/config.fish", "{}" + _FISH),
}


@pytest.mark.long
@pytest.mark.skipif(shutil.which("setsid") is None, reason="no setsid here")
@pytest.mark.parametrize("shell", _FILES)
def test_a_shell_completes(shell: str, tmp_path: Path) -> None:
    """A shell on a terminal that has read the line of ``docs/use/shell.md``."""
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} here")
    pty = pytest.importorskip("pty")
    page = (ROOT / "docs" / "use" / "shell.md").read_text(encoding="utf-8")
    (line,) = re.findall(rf"\*\*{shell}\*\*.*?```{shell}\n(.*?)```", page, re.DOTALL)
    name, text = _FILES[shell]
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(text.replace("{}", line, 1), encoding="utf-8")
    (tmp_path / "some-dataset").mkdir()
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    homes = dict.fromkeys(("HOME", "ZDOTDIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME"), str(tmp_path))
    ours, theirs = pty.openpty()
    with (
        subprocess.Popen(
            ["setsid", "--ctty", shell, "-i"],  # fish refuses a terminal that does not control it
            **dict.fromkeys(("stdin", "stdout", "stderr"), theirs),
            cwd=tmp_path,
            env={**os.environ, **homes, "PATH": path, "PYTHONPATH": str(ROOT), "TERM": "xterm"},
        ) as process,
        ExitStack() as stack,
    ):
        stack.callback(process.kill)
        for typed, value in (
            ("ready\n", "ready"),
            ("loo\t\n", "lookup"),
            ("store pru\t\n", "store prune"),
            ("8.8.8.8 --form\t\n", "8.8.8.8 --format"),
            ("lookup --format ta\t\n", "lookup --format table"),
            ("lookup -f asn_\t\n", "lookup -f asn_organization"),
            ("info some-d\t\n", "info some-dataset"),
        ):
            os.write(ours, f"geolookup {typed}".encode())
            written = ""
            while not (match := re.search(r"given:(.*?)[ /]?;.*ready:", written, re.DOTALL)):
                assert select.select([ours], [], [], PATIENCE)[0], written
                written += os.read(ours, 4096).decode()
            assert match[1] == value
    os.close(ours)
    os.close(theirs)


def test_the_last_path_of_fields_is_completed() -> None:
    result = complete_paths(None, None, "ip,network.as")
    assert result == ["ip,network.asn", "ip,network.asn_organization"]
    assert "location" in complete_paths(None, None, "")
