"""The installation of a generation, in a process of its own.

A follower waits most of the time. Verifying and unpacking archives needs Arrow and much more
memory: the process returns it at its end. Request and result are a line of JSON each, on standard
input and output. Standard input stays open: when it ends, the follower has died, and the child ends
too. ``command``, ``environment`` and ``end_with_input`` serve other such processes too.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from threading import Thread
from typing import IO, TYPE_CHECKING, Any, cast

from geolookup.errors import GeoLookupError, MirrorError, PathError
from geolookup.mirrors.polling import PollResult, Status

if TYPE_CHECKING:  # a server that only starts processes fetches no files
    from geolookup.mirrors.source import Source

#: Seconds for a child to remove unfinished files, before it is killed.
_END = 0.7
_RETRY = "it is tried again at the next poll"


def command(module: str, *arguments: str) -> list[str]:
    """Return the command of a module; ``environment`` goes with it."""
    # Without -P Python would import modules of the working folder first.
    return [sys.executable, "-P", "-m", module, *arguments]


def environment() -> dict[str, str]:
    """Return the environment of a Python that imports the modules of this one."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def exit_text(status: int | None) -> str:
    """Return how a process ended, by its exit status: -9 if signal 9 killed it."""
    if status is None or status >= 0:
        return f"ended with status {status}"
    # Real-time signals have numbers only.
    names = {number.value: number.name for number in signal.Signals}
    return f"was killed by {names.get(-status, f'signal {-status}')}"


def end_with_input() -> None:
    """Send this process SIGTERM when its standard input ends; return at once.

    It is a pipe from the other process. The system closes it however that process dies.
    """
    Thread(target=_wait, name="geolookup-parent", daemon=True).start()


def _wait() -> None:
    # Not sys.stdin: at exit, Python waits for the lock of a stream that is being read.
    while os.read(0, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def install_in_child(source: Source, index_file: Path, before: Status) -> PollResult:
    """Call ``install`` in another process; MirrorError if anything in it fails."""
    arguments = {**asdict(source), "store": str(source.store)}
    line = json.dumps({"source": arguments, "index": str(index_file), "before": asdict(before)})
    with _start() as child:
        try:
            answer = _ask(child, line)
        except BaseException:  # such as the SystemExit of a signal
            _end(child)
            raise
    # A child that dies while it writes leaves a line without its end.
    if not answer.endswith("\n"):
        raise MirrorError(source.store, f"the installation {exit_text(child.returncode)}", _RETRY)
    return _outcome(json.loads(answer))


def _start() -> subprocess.Popen[str]:
    return subprocess.Popen(  # noqa: S603 (our own interpreter)
        command("geolookup.mirrors.child"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment(),
        text=True,
    )


def _ask(child: subprocess.Popen[str], line: str) -> str:
    """Return the line that a child answers; it has no end if the child died."""
    requests, answers = cast("IO[str]", child.stdin), cast("IO[str]", child.stdout)
    with suppress(BrokenPipeError):  # it has died already
        requests.write(line + "\n")
        requests.flush()
    return answers.readline()


def _outcome(answer: dict[str, Any]) -> PollResult:
    if "error" in answer:
        raise MirrorError(**answer["error"])
    return PollResult(**answer["polled"])


def _end(child: subprocess.Popen[str]) -> None:
    """End a child that still runs, because a signal ends this process."""
    child.terminate()
    try:
        child.wait(_END)
    except subprocess.TimeoutExpired:
        child.kill()


def main() -> None:
    """Read a request, install, and write the result."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the follower, and it ends this
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    line = sys.stdin.readline()
    end_with_input()
    sys.stdout.write(json.dumps(_answer(json.loads(line))) + "\n")
    sys.stdout.flush()


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    from geolookup.mirrors.install import install
    from geolookup.mirrors.source import Source

    source = Source(**{**request["source"], "store": Path(request["source"]["store"])})
    try:
        polled = install(source, Path(request["index"]), Status(**request["before"]))
    except (GeoLookupError, OSError, MemoryError) as error:
        return {"error": _error_arguments(error, source.store)}
    return {"polled": asdict(polled)}


def _error_arguments(error: Exception, store: Path) -> dict[str, Any]:
    """Return the arguments of a MirrorError with the text of an error."""
    if isinstance(error, PathError):
        wait = error.wait if isinstance(error, MirrorError) else None
        arguments = {"path": error.path, "problem": error.problem, "remedy": error.remedy}
        return {**arguments, "wait": wait}
    problem = str(error) or type(error).__name__
    return {"path": str(store), "problem": problem, "remedy": _RETRY}


if __name__ == "__main__":
    main()
