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
