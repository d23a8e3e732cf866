"""One Python and one shell for the examples of a page: names, variables, folders and jobs stay.

Run as a program, it reads blocks of Python as JSON lines and answers each with what differs.
"""

from __future__ import annotations

import doctest
import json
import os
import re
import subprocess
import sys
import threading
import traceback
from collections.abc import Generator, Mapping
from contextlib import contextmanager, redirect_stdout, suppress
from pathlib import Path
from typing import Any


def matches(shown: str, printed: str) -> bool:
    """Whether an output is as shown.

    An ellipsis stands for the rest of a line or a part of it; one that has its line to itself, for
    any number of lines.
    """
    pattern = "".join(map(_pattern, shown.rstrip().splitlines()))
    return re.fullmatch(pattern, f"{printed.rstrip()}\n" if printed.strip() else "") is not None


def _pattern(line: str) -> str:
    if line.strip() == "…":
        return r"(?:.*\n)*?"
    return "[^\n]*".join(re.escape(part) for part in line.rstrip().split("…")) + " *\n"


_ROOT = Path(__file__).parents[2]


class _Same(doctest.OutputChecker):
    """Accepts an ellipsis as in consoles, and any white space where some is."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        return super().check_output(want, got, optionflags) or matches(want, got)


def differences(text: str, position: str, names: dict[str, Any]) -> str:
    """Run a session, or code without a prompt, and return the differences from the page."""
    if ">>> " not in text:
        try:
            exec(compile(text, position, "exec"), names)  # noqa: S102 - our own page
        except Exception:  # noqa: BLE001 - the page is told
            return traceback.format_exc()
        return ""
    page, _, line = position.rpartition(":")
    test = doctest.DocTestParser().get_doctest(text, {}, page, page, int(line))
    test.globs = names
    printed: list[str] = []
    runner = doctest.DocTestRunner(_Same(), optionflags=doctest.NORMALIZE_WHITESPACE)
    runner.run(test, out=printed.append, clear_globs=False)
    return "".join(printed)


class Namespace:
    """Runs blocks in order in the process."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def run(self, text: str, position: str) -> str:
        """Return what differs from what the block shows; empty where it is true."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps([text, position]) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, f"{position}: the process ended"
        return str(json.loads(answer))


@contextmanager
def namespace(folder: Path, environment: Mapping[str, str]) -> Generator[Namespace]:
    """Start a Python in a folder, and end it."""
    beside = os.pathsep.join(filter(None, [str(_ROOT), environment.get("PYTHONPATH", "")]))
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.docs.namespace"],
        cwd=folder,
        env={**environment, "PYTHONPATH": beside},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        yield Namespace(process)
        assert process.stdin
        process.stdin.close()


def _main() -> None:
    names: dict[str, Any] = {"__name__": "__page__"}
    answers = sys.stdout
    for line in sys.stdin:
        with redirect_stdout(sys.stderr):
            text, position = json.loads(line)
            result = differences(text, position, names)
        answers.write(json.dumps(result) + "\n")
        answers.flush()


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


if __name__ == "__main__":
    _main()
