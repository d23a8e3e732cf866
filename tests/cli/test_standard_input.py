"""Standard input: read to its end, and left in the middle when a command stops early."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from array import array
from contextlib import suppress
from io import BufferedReader, BytesIO, TextIOWrapper
from pathlib import Path
from threading import Thread
from typing import IO, cast
from unittest import mock

import pytest

from geolookup.cli.address_input import piped
from tests.cli.program import pipe
from tests.conftest import ROOT

ROW = b"8.8.8.8," + b"x" * 1000 + b"\n"


OPTIONS = ("--output", "-", "--input-format", "csv", "--output-format", "csv")


def start() -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "geolookup", "enrich", "-", *OPTIONS]
    return subprocess.Popen(
        [*command, "--fields", "network.asn"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


@pytest.mark.parametrize("rows", [pytest.param(10, marks=pytest.mark.long), 60_000])
def test_a_command_that_stops_early_does_not_wait_for_the_pipe(rows: int) -> None:
    with start() as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        reader = Thread(target=process.stdout.read)
        reader.start()
        # One cell too many, then rows enough to fill a block, and a pipe that stays open.
        with suppress(BrokenPipeError):
            process.stdin.write(b"ip,note\n" + ROW * rows + b"8.8.8.8,x,y\n" + ROW * 60_000)
            process.stdin.flush()
        assert process.wait(30) == 2
        reader.join()
        assert f"row {rows + 2}".encode() in process.stderr.read()
        with suppress(BrokenPipeError):
            process.stdin.close()


def test_lookup_answers_what_has_arrived() -> None:
    command = [sys.executable, "-m", "geolookup", "lookup"]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for given, answered in (
            (b"8.8.8.8\n", [b"8.8.8.8"]),
            (b"1.1.1.1\n\n9.9.9.9\n8.8.", [b"1.1.1.1", b"9.9.9.9"]),
            (b"4.4\n", [b"8.8.4.4"]),
        ):
            process.stdin.write(given)
            process.stdin.flush()
            for ip in answered:
                assert b'"ip":"' + ip + b'"' in process.stdout.readline()
        rest, _ = process.communicate(b"7.7.7.7", timeout=60)
        assert rest.count(b"7.7.7.7") == 1
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
    stream = TextIOWrapper(BufferedReader(BytesIO(bytes(5 << 20) + b"\n" + bytes(5 << 20))))
    assert [block.answer(lines, 0) for block in piped(cast("BufferedReader", stream.buffer))] == [
        0,
        0,
    ]
    texts = [call.args[0] for call in lines.add_text.call_args_list]
    assert len(texts) == 2
    assert max(map(len, texts)) < 2 << 20


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_lookup_that_waits_for_the_pipe(number: signal.Signals) -> None:
    command = [sys.executable, "-m", "geolookup", "lookup"]
    with subprocess.Popen(
        command,
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"8.8.8.8\n")
        process.stdin.flush()
        assert process.stdout.readline()
        process.send_signal(number)
        _, errors = process.communicate(timeout=30)
        assert process.returncode
        assert b"Traceback" not in errors


def test_a_slow_pipe_is_read_to_its_end() -> None:
    with start() as process:
        assert process.stdin is not None
        for part in (b"ip,no", b"te\n8.8.8", b".8,x\n", ROW * 5, b"8.8.8.8,x"):
            process.stdin.write(part)
            process.stdin.flush()
        output, _ = process.communicate(timeout=60)
        assert process.returncode == 0
        assert output.count(b"15169") == 7


def _unread(pipe: IO[bytes]) -> int:
    """Return how many bytes in a pipe its reader has not taken."""
    fcntl, termios = pytest.importorskip("fcntl"), pytest.importorskip("termios")
    count = array("i", [0])
    fcntl.ioctl(pipe, termios.FIONREAD, count)
    return count[0]


@pytest.mark.parametrize("command", ["enrich", pytest.param("summarize", marks=pytest.mark.long)])
def test_a_signal_ends_a_command_that_waits_for_the_pipe(command: str, tmp_path: Path) -> None:
    options = ["-", "--input-format", "csv"]
    if command == "enrich":
        options += ["--output", str(tmp_path / "out.csv")]
    process = subprocess.Popen(
        [sys.executable, "-m", "geolookup", command, *options],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    with process:
        assert process.stdin is not None
        process.stdin.write(b"ip\n8.8.8.8\n")
        process.stdin.flush()
        while _unread(process.stdin):  # then the command waits for more
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 128 + signal.SIGTERM
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["lookup", "summarize -"])
def test_a_closed_standard_input_is_one_line(command: str) -> None:
    line = f"{sys.executable} -m geolookup {command} <&-"
    done = subprocess.run(line, shell=True, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S602
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "is closed" in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_full_standard_output_is_one_line() -> None:
    line = f"{sys.executable} -m geolookup info > /dev/full"
    done = subprocess.run(line, shell=True, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S602
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1


_LOST = """
import os, signal, time
from geolookup.cli import exit_on_signals

def interrupted():
    os.kill(os.getpid(), signal.SIGTERM)
    for _ in range(100_000):  # the signal's SystemExit is raised, and dropped, in here
        pass

class Dropping:
    def __del__(self):
        interrupted()

def dropped():
    try:
        interrupted()
    except SystemExit:  # as the C++ of a library drops what Python code raises that it calls
        pass

exit_on_signals()
{}()
ends = time.monotonic() + 20
while time.monotonic() < ends:
    pass
"""


@pytest.mark.parametrize("place", ["Dropping", "dropped"])
def test_a_signal_whose_exit_is_dropped_still_ends_the_command(place: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _LOST.format(place)],
        cwd=ROOT,
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 128 + signal.SIGTERM
    assert done.stderr == b""


_CLEANING = """
import os, signal, time
from geolookup.cli import exit_on_signals

exit_on_signals()
try:
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(20)
finally:
    try:
        raise FileNotFoundError
    except FileNotFoundError:
        ends = time.monotonic() + 1.2
        while time.monotonic() < ends:
            pass
    print("removed")
"""


def test_a_repeated_signal_does_not_interrupt_the_removal_of_files() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _CLEANING], cwd=ROOT, capture_output=True, check=False, timeout=60
    )
    assert done.returncode == 128 + signal.SIGTERM
    assert done.stdout == b"removed\n"
    assert done.stderr == b""
