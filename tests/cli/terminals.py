"""The program on a terminal."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

from tests.conftest import ROOT


def terminal(
    *arguments: str,
    columns: int = 200,
    typed: bytes = b"",
    environment: Mapping[str, str] = MappingProxyType({}),
    folder: Path = ROOT,
) -> tuple[str, int]:
    """Return what the program writes to a terminal, and its exit status."""
    pty, termios = pytest.importorskip("pty"), pytest.importorskip("termios")
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, columns))
    names = {"LC_ALL": "C.UTF-8", "TERM": "xterm", "NO_COLOR": "", **environment}
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in ("COLUMNS", "LINES", "PYTHONIOENCODING", "PYTHONUTF8")
    }
    with subprocess.Popen(
        [sys.executable, "-m", "geolookup", *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=folder,
        env={**kept, **names},
    ) as process:
        os.close(theirs)
        os.write(ours, typed)
        written = b""
        try:
            while part := os.read(ours, 4096):
                written += part
        except OSError:  # Linux: the other end is closed
            pass
    os.close(ours)
    encoding = environment.get("PYTHONIOENCODING", "utf-8")
    return written.decode(encoding).replace("\r\n", "\n"), process.returncode
