"""Standard input: read to its end, and left in the middle when a command stops early."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from array import array
from collections.abc import Callable
from contextlib import suppress
from io import BufferedReader, BytesIO
from pathlib import Path
from threading import Thread
from typing import IO
from unittest import mock

import pytest

from geolookup import cli
from geolookup.cli.address_input import piped
from tests.cli.program import forked, pipe, started

PIPE = subprocess.PIPE
ROW = b"8.8.8.8," + b"x" * 1000 + b"\n"
ENRICH = (
    *("enrich", "-", "--output", "-", "--input-format", "csv", "--output-format", "csv"),
    *("--fields", "network.asn"),
)


def send(process: subprocess.Popen[bytes], data: bytes) -> None:
    assert process.stdin is not None
    process.stdin.write(data)
    process.stdin.flush()


@pytest.mark.parametrize("rows", [pytest.param(10, marks=pytest.mark.long), 5_000])
def test_a_command_that_stops_early_does_not_wait_for_the_pipe(rows: int) -> None:
    with started(*ENRICH, stdin=PIPE, stdout=PIPE, stderr=PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        reader = Thread(target=process.stdout.read)
        reader.start()
        # One cell too many, then rows enough to fill a block, and a pipe that stays open.
        with suppress(BrokenPipeError):
            send(process, b"ip,note\n" + ROW * rows + b"8.8.8.8,x,y\n" + ROW * 20_000)
        assert process.wait(60) == 2
        reader.join()
        assert f"row {rows + 2}".encode() in process.stderr.read()


def test_lookup_answers_what_has_arrived() -> None:
    with started("lookup", stdin=PIPE, stdout=PIPE) as process:
        assert process.stdout is not None
        for block, answered in (
            (b"8.8.8.8\n", [b"8.8.8.8"]),
            (b"1.1.1.1\n\n9.9.9.9\n8.8.", [b"1.1.1.1", b"9.9.9.9"]),
            (b"4.4\n", [b"8.8.4.4"]),
        ):
            send(process, block)
            for ip in answered:
                assert b'"ip":"' + ip + b'"' in process.stdout.readline()
        last, _ = process.communicate(b"7.7.7.7", timeout=60)
        assert last.count(b'"ip":"7.7.7.7"') == 1
        assert process.returncode == 0


def test_lookup_answers_many_lines_in_order() -> None:
    addresses = [f"8.8.{number >> 8}.{number & 255}" for number in range(3000)]
    done = pipe("lookup", data="\n".join(addresses).encode())
    answers = map(json.loads, done.stdout.splitlines())
    assert [answer["data"]["ip"] for answer in answers] == addresses


def test_lookup_keeps_little_of_a_line_without_an_end() -> None:
    long = b" " * (5 << 20) + b"8.8.8.8"
    done = pipe("lookup", data=b"1.1.1.1\n" + long + b"\n9.9.9.9\n" + long)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [each["error_code"] for each in answers] == [None, 10001, None, 10001]
    lines = mock.Mock()
    lines.add_text.return_value = 0
    stream = BufferedReader(BytesIO(bytes(5 << 20) + b"\n" + bytes(5 << 20)))
    assert [block.answer(lines, 0) for block in piped(stream)] == [0, 0]
    texts = [call.args[0] for call in lines.add_text.call_args_list]
    assert len(texts) == 2
    assert max(map(len, texts)) < 2 << 20


def test_a_slow_pipe_is_read_to_its_end() -> None:
    with started(*ENRICH, stdin=PIPE, stdout=PIPE) as process:
        for part in (b"ip,no", b"te\n8.8.8", b".8,x\n", ROW * 5, b"8.8.8.8,x"):
            send(process, part)
        output, _ = process.communicate(timeout=60)
        assert process.returncode == 0
        assert output.count(b"15169") == 7


def _unread(pipe: IO[bytes]) -> int:
    """Return how many bytes in a pipe its reader has not taken."""
    fcntl, termios = pytest.importorskip("fcntl"), pytest.importorskip("termios")
    count = array("i", [0])
    fcntl.ioctl(pipe, termios.FIONREAD, count)
    return count[0]


@pytest.mark.parametrize(
    ("command", "number"),
    [
        ("enrich", signal.SIGTERM),
        pytest.param("enrich", signal.SIGINT, marks=pytest.mark.long),
        pytest.param("summarize", signal.SIGTERM, marks=pytest.mark.long),
        ("lookup", signal.SIGINT),
        pytest.param("lookup", signal.SIGTERM, marks=pytest.mark.long),
    ],
)
def test_a_signal_ends_a_command_that_waits_for_the_pipe(
    command: str, number: signal.Signals, tmp_path: Path
) -> None:
    """Its exit path is that of a process whose threads read."""
    options = () if command == "lookup" else ("--input-format", "csv")
    if command == "enrich":
        options += ("--output", str(tmp_path / "out.csv"))
    args = (command, "-", *options)
    with started(*args, stdin=PIPE, stdout=subprocess.DEVNULL, stderr=PIPE) as process:
        assert process.stdin is not None
        send(process, b"ip\n8.8.8.8\n")
        while _unread(process.stdin):  # then the command waits for more
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(number)
        _, errors = process.communicate(timeout=60)
    # Without files to remove, lookup leaves signals to the system and to Click.
    of_lookup = {signal.SIGTERM: -signal.SIGTERM, signal.SIGINT: 1}
    assert process.returncode == (of_lookup[number] if command == "lookup" else 128 + number)
    assert b"Traceback" not in errors
    assert list(tmp_path.iterdir()) == []


def test_a_closed_standard_input_is_one_line() -> None:
    for command in (("lookup",), ("summarize", "-")):
        with started(*command, stdout=PIPE, stderr=PIPE, preexec_fn=lambda: os.close(0)) as process:
            _, errors = process.communicate(timeout=60)
        assert process.returncode == 2
        assert errors.count(b"\n") == 1
        assert b"is closed" in errors


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_full_standard_output_is_one_line() -> None:
    with (
        Path("/dev/full").open("wb") as full,
        started("info", stdout=full, stderr=PIPE) as process,
    ):
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 2
    assert errors.count(b"\n") == 1
    assert b"No space left" in errors


# --- a signal at a bad moment, in a process whose first signal is repeated at once


def _interrupted() -> None:
    """The signal's SystemExit is raised in here."""
    os.kill(os.getpid(), signal.SIGTERM)
    for _ in range(100_000):
        pass


class _Dropping:
    def __del__(self) -> None:
        _interrupted()


def _wait() -> None:
    ends = time.monotonic() + 60
    while time.monotonic() < ends:
        time.sleep(0.01)


def dropped_by_a_destructor() -> None:
    cli._REPEAT = 0.02
    cli.exit_on_signals()
    _Dropping()
    _wait()


def dropped_by_a_library() -> None:
    """Drop the exit, as the C++ of a library does with what Python code raises that it calls."""
    cli._REPEAT = 0.02
    cli.exit_on_signals()
    with suppress(SystemExit):
        _interrupted()
    _wait()


def repeated_while_files_are_removed() -> None:
    cli._REPEAT = 0.02
    signals: list[int] = []
    interrupt = cli.interrupt_main

    def counted(number: int) -> None:
        signals.append(number)
        interrupt(number)

    cli.interrupt_main = counted
    cli.exit_on_signals()
    try:
        _interrupted()
    finally:
        try:
            Path("/nowhere").unlink()
        except FileNotFoundError:
            ends = time.monotonic() + 60
            while len(signals) < 3 and time.monotonic() < ends:
                time.sleep(0.001)
        sys.stdout.write(f"removed, {len(signals)} signals later\n")
        sys.stdout.flush()


@pytest.mark.parametrize(
    ("function", "printed"),
    [
        (dropped_by_a_destructor, b""),
        (dropped_by_a_library, b""),
        (repeated_while_files_are_removed, b"removed, 3 signals later\n"),
    ],
)
def test_a_signal_at_a_bad_moment_ends_the_command(
    function: Callable[[], None], printed: bytes
) -> None:
    """Where its exit is dropped it comes again, but does not interrupt the removal of files."""
    done = forked(function)
    assert (done.returncode, done.stdout, done.stderr) == (128 + signal.SIGTERM, printed, b"")
