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
    """Run a command in a folder, with the commands of this Python first in the path."""
    scripts = Path(sys.executable).parent
    return subprocess.run(
        ["/bin/sh", "-c", command],
        cwd=folder,
        env={**os.environ, "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
