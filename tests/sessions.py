"""Runs the console sessions that a page shows, as its reader would."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path


def sessions(shown: str) -> Iterator[tuple[str, str]]:
    """Yield each command of a console block, and the output that is shown below it."""
    for session in re.split(r"^\$ ", shown, flags=re.MULTILINE)[1:]:
        command, _, output = session.partition("\n")
        yield command, output


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder as a user does: the commands of this Python come first in the
    path, and the bundled dataset answers.
    """
    scripts = Path(sys.executable).parent
    path = f"{scripts}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["/bin/sh", "-c", command],
        cwd=folder,
        env={**os.environ, "PATH": path, "GEOLOOKUP_DATASET": ""},
        capture_output=True,
        text=True,
        check=False,
    )


_BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: str) -> list[tuple[str, str, str]]:
    """Return the code blocks of a page: kind, name of the file if it is one, and text."""
    return _BLOCK.findall(page)


def assert_sessions(page: str, folder: Path, commands: int, ellipsis: str) -> None:
    """Write the files of a page and run its commands; an ellipsis stands for the pattern."""
    found: list[tuple[str, str]] = []
    for kind, name, text in blocks(page):
        if name:
            (folder / name).write_text(text, encoding="utf-8")
        if kind == "console":
            found += sessions(text)
    assert len(found) == commands
    for command, shown in found:
        done = run(command, folder)
        assert done.stderr == ""
        pattern = ellipsis.join(re.escape(part) for part in shown.strip().split("…"))
        assert re.fullmatch(pattern, done.stdout.strip()), (command, done.stdout)
