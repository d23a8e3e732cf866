"""One Python for the sessions and code of a page, in a process of its own: names stay.

Run as a program, it reads blocks as JSON lines and answers each with what differs.
"""

from __future__ import annotations

import doctest
import json
import os
import re
import subprocess
import sys
import traceback
from collections.abc import Generator, Mapping
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any


def matches(shown: str, printed: str) -> bool:
    """Whether an output is what is shown.

    An ellipsis stands for the rest of a line or a part of it; one that is alone on its line, for
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


def differences(text: str, place: str, names: dict[str, Any]) -> str:
    """Run a session, or code without a prompt, and return what differs from what is shown."""
    if ">>> " not in text:
        try:
            exec(compile(text, place, "exec"), names)  # noqa: S102 - our own page
        except Exception:  # noqa: BLE001 - the page is told
            return traceback.format_exc()
        return ""
    page, _, line = place.rpartition(":")
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

    def run(self, text: str, place: str) -> str:
        """Return what differs from what the block shows; empty where it is true."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps([text, place]) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, f"{place}: the process ended"
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
            text, place = json.loads(line)
            found = differences(text, place, names)
        answers.write(json.dumps(found) + "\n")
        answers.flush()


if __name__ == "__main__":
    _main()
