"""One shell for the commands of a page: variables, folders and background jobs stay."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

#: Seconds until a page fails: a safety net, on a loaded machine too.
_SECONDS = 1200


class Shell:
    """Runs commands in order. Each reads nothing, and its output is kept apart."""

    def __init__(self, process: subprocess.Popen[str], outputs: Path) -> None:
        self._process = process
        self._outputs = outputs
        self._count = 0

    def run(self, command: str) -> tuple[int, str]:
        """Return the exit status of a command and what a terminal shows: both streams."""
        assert self._process.stdin
        assert self._process.stdout
        self._count += 1
        output = self._outputs / str(self._count)
        self._process.stdin.write(f"{{ {command}\n}} >'{output}' 2>&1 </dev/null; echo $?\n")
        self._process.stdin.flush()
        status = self._process.stdout.readline()
        printed = output.read_text(encoding="utf-8") if output.exists() else ""
        assert status, f"{command}: the shell ended, or took more than {_SECONDS} s: {printed}"
        return int(status), printed


@contextmanager
def shell(folder: Path, outputs: Path, environment: Mapping[str, str]) -> Generator[Shell]:
    """Start a shell in a folder. At the end, end it and the jobs that it left."""
    process = subprocess.Popen(
        ["bash", "--norc", "--noprofile", "-m"],
        cwd=folder,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    limit = threading.Timer(_SECONDS, process.kill)
    limit.start()
    try:
        yield Shell(process, outputs)
    finally:
        limit.cancel()
        _end(process)


def _end(process: subprocess.Popen[str]) -> None:
    assert process.stdin
    assert process.stdout
    with suppress(BrokenPipeError):
        process.stdin.write("kill -TERM $(jobs -p); wait; exit\n")
        process.stdin.close()
    try:
        process.wait(60)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    process.stdout.close()


def environment(home: Path, commands_in: Path | None = None) -> dict[str, str]:
    """Return the environment of a reader: the commands of a folder and then this Python's come
    first in the path, the bundled dataset answers, the home folder is one of its own, and a
    terminal has all characters.
    """
    first = [str(commands_in)] if commands_in else []
    left_out = ("GEOLOOKUP_DATASET", "GEOLOOKUP_STORE", "GEOLOOKUP_CACHE", "XDG_CACHE_HOME")
    kept = {name: text for name, text in os.environ.items() if name not in left_out}
    path = os.pathsep.join([*first, str(Path(sys.executable).parent), os.environ["PATH"]])
    return {**kept, "PATH": path, "HOME": str(home), "LC_ALL": "C.UTF-8"}
