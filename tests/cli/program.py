"""The program with its arguments: in this process, or in one of its own.

``run`` and ``pipe`` call it here, on streams of its own, and undo its changes of the process. A
command that starts processes, waits for signals or may wait for ever needs a process:
``alone=True``, or ``started``, whose arguments no shell reads.
"""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from io import TextIOWrapper
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any
from unittest import mock

import pyarrow as pa
import pytest

from geolookup import cli
from tests.conftest import ROOT
from tests.internals.filesystem import sweep_once
from tests.servers import PATIENCE

#: Commands that start processes or serve: they are always run in a process.
_ALONE = ("serve",)
#: Whether the program, when it runs here, has a standard input.
has_input = True
# Arrow imports pandas now: a command that runs in this process would hide it.
pa.array([0])
#: Inputs that a thread of a command may still read: a new file must not get their descriptor.
_KEPT: list[IO[bytes]] = []


def run(
    *args: str,
    text: str = "",
    env: dict[str, str] | None = None,
    folder: Path = ROOT,
    alone: bool = False,
) -> subprocess.CompletedProcess[str]:
    """Run the program with the text on standard input; a traceback fails the test."""
    done = pipe(*args, data=text.encode(), env=env, folder=folder, alone=alone)
    out, err = (data.decode().replace("\r\n", "\n") for data in (done.stdout, done.stderr))
    return subprocess.CompletedProcess(args, done.returncode, out, err)


def pipe(
    *args: str,
    data: bytes = b"",
    env: dict[str, str] | None = None,
    folder: Path = ROOT,
    alone: bool = False,
) -> subprocess.CompletedProcess[bytes]:
    """Run the program with bytes on standard input.

    With ``env`` it runs in a process: modules read the environment when they are imported.
    """
    alone = alone or env is not None or os.name == "nt" or args[0] in _ALONE
    if alone or threading.current_thread() is not threading.main_thread():
        done = _fresh(args, data, env, folder)
    else:
        done = _inside(args, data, folder)
    assert b"Traceback" not in done.stderr, done.stderr.decode()
    assert b"Exception ignored" not in done.stderr, done.stderr.decode()
    return done


def python(
    code: str, *arguments: str, **environment: str | None
) -> subprocess.CompletedProcess[str]:
    """Run Python code in a process that must succeed; a variable that is None is unset."""
    variables = os.environ | environment
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=ROOT,
        env={name: value for name, value in variables.items() if value is not None},
        timeout=5 * PATIENCE,
        check=False,
        capture_output=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr
    return done


@contextmanager
def umask(mask: int) -> Iterator[None]:
    former = os.umask(mask)
    try:
        yield
    finally:
        os.umask(former)


def refused(*args: str, status: int = 2, text: str = "", folder: Path = ROOT) -> str:
    """Return standard error of a command that must print nothing else and end with a status."""
    done = run(*args, text=text, folder=folder)
    assert (done.returncode, done.stdout) == (status, ""), done
    assert done.stderr.strip(), done
    return done.stderr


def words(command: str, *paths: object, **names: object) -> list[str]:
    """Return the words of a command, ``{}`` and ``{name}`` filled; a path may have blanks."""
    at = iter(paths)
    # Only a word with a bare {} takes the next path.
    return [
        word.format(*((next(at),) if "{}" in word else ()), **names) for word in command.split()
    ]


def refusal(*args: str, status: int = 2, text: str = "", folder: Path = ROOT) -> str:
    """Return the one line of ``refused``, without the name of the program."""
    (line,) = refused(*args, status=status, text=text, folder=folder).splitlines()
    assert line.startswith("geolookup: "), line
    return line.removeprefix("geolookup: ")


class Process(subprocess.Popen[bytes]):
    """A process; a test uses the streams that it asked for."""

    stdin: IO[bytes]
    stdout: IO[bytes]
    stderr: IO[bytes]


@contextmanager
def started(
    *args: str,
    folder: Path = ROOT,
    env: Mapping[str, str] | None = None,
    python: Sequence[str] = ("-m", "geolookup"),
    **options: Any,
) -> Iterator[Process]:
    """Start the program as a process, with options of ``Popen``; kill it in the end.

    ``python`` are the arguments of Python.
    """
    paths = os.pathsep.join([str(ROOT), *sys.path])
    process = Process(
        [sys.executable, *python, *args],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": paths, **(env or {})},
        **options,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                with suppress(BrokenPipeError):
                    stream.close()


#: Runs the program until the first audit event of a name whose path has an end, and waits there.
_HELD = """
import os, sys, time
event, end = sys.argv.pop(1), sys.argv.pop(1)
def hold(name, arguments):
    if name == event and any(str(each).endswith(end) for each in arguments[:2]):
        if os.path.exists(arguments[0]):
            print("held", flush=True)
            time.sleep(600)
sys.addaudithook(hold)
from geolookup.cli import main
main()
"""


@contextmanager
def held(event: str, end: str, *args: str, folder: Path = ROOT, **env: str) -> Iterator[Process]:
    """Run the program until an audit event of Python, such as os.rename; it waits there.

    ``end`` is the end of a path of the event. The block sends a signal to the process.
    """
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    python = ("-c", _HELD, event, end)
    with started(*args, folder=folder, env=env, python=python, **streams) as process:
        assert process.stdout.readline() == b"held\n", process.communicate()
        yield process


def _fresh(
    args: Sequence[str], data: bytes, env: Mapping[str, str] | None, folder: Path
) -> subprocess.CompletedProcess[bytes]:
    pipe = subprocess.PIPE
    with started(*args, folder=folder, env=env, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        out, err = process.communicate(data, PATIENCE)
    return subprocess.CompletedProcess(args, process.returncode, out, err)


def _inside(args: Sequence[str], data: bytes, folder: Path) -> subprocess.CompletedProcess[bytes]:
    before = set(threading.enumerate())
    streams: list[IO[bytes]] = [TemporaryFile() for _ in range(3)]  # noqa: SIM115
    streams[0].write(data)
    streams[0].seek(0)
    try:
        with _process_state(), pytest.MonkeyPatch.context() as patch:
            patch.chdir(folder)
            patch.setattr(sys, "argv", ["geolookup", *args])
            texts = [*map(_text_stream, streams[:2]), _text_stream(streams[2], "backslashreplace")]
            for name, text in zip(("stdin", "stdout", "stderr"), texts, strict=True):
                patch.setattr(sys, name, text if has_input or name != "stdin" else None)
            try:
                status = _status()
            finally:
                for text in texts:
                    text.detach()
        for stream in streams[1:]:
            stream.seek(0)
        return subprocess.CompletedProcess(args, status, *(item.read() for item in streams[1:]))
    finally:
        if set(threading.enumerate()) > before:
            _KEPT.append(streams.pop(0))
        for stream in streams:
            stream.close()


def _text_stream(stream: IO[bytes], errors: str = "strict") -> TextIOWrapper:
    return TextIOWrapper(stream, "utf-8", errors, write_through=True)


def _status() -> int:
    try:
        cli.main()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


@contextmanager
def _process_state() -> Iterator[None]:
    """Undo what a command changes for its process, and hide what pytest changed for this one."""
    with ExitStack() as stack, pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "unraisablehook", sys.__unraisablehook__)
        patch.setattr(threading, "excepthook", threading.__excepthook__)
        patch.setattr(logging.root, "handlers", [])
        sweep_once.cache_clear()
        stack.enter_context(mock.patch.dict(os.environ))
        stack.callback(pa.set_cpu_count, pa.cpu_count())
        for number in (signal.SIGTERM, signal.SIGINT):
            stack.callback(signal.signal, number, signal.getsignal(number))
        yield
