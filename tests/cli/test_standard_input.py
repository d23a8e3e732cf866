"""Standard streams: input read to its end, or left in the middle; outputs that end early."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import time
from io import BufferedReader, BytesIO
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from tests.cli import program
from tests.cli.bad_moments import MOMENTS
from tests.cli.program import pipe, started, words
from tests.datasets import SMALL
from tests.internals.cli import read_blocks
from tests.tiers import one_of_each

PIPE = subprocess.PIPE
#: Commands that read tables and texts; ``lookup`` reads addresses.
_READERS = ("summarize", "annotate")


def send(process: program.Process, data: bytes) -> None:
    process.stdin.write(data)
    process.stdin.flush()


def test_lookup_answers_what_has_arrived() -> None:
    with started("lookup", stdin=PIPE, stdout=PIPE) as process:
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


def test_lookup_answers_lines_in_order_and_keeps_little() -> None:
    addresses = [f"8.8.{number >> 8}.{number & 255}" for number in range(3000)]
    done = pipe("lookup", data="\n".join(addresses).encode())
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["data"]["ip"] for answer in answers] == addresses
    long = b" " * (5 << 20) + b"8.8.8.8"
    done = pipe("lookup", data=b"1.1.1.1\n" + long + b"\n9.9.9.9\n" + long)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["error_code"] for answer in answers] == [None, 10001, None, 10001]
    # White space is removed, empty lines are skipped; a line that is not UTF-8 is malformed.
    for data, kinds in (
        (b"8.8.8.8 \n\t1.1.1.1\r\n\n \n9.9.9.9", [None] * 3),
        (b"\x1c\n\xc2\xa08.8.8.8\xe3\x80\x80\n\xff8.8.8.8\n8.8.8.8\xc2", [None, 10001, 10001]),
    ):
        answers = [json.loads(line) for line in pipe("lookup", data=data).stdout.splitlines()]
        assert [answer["error_code"] for answer in answers] == kinds
    lines = mock.Mock()
    lines.add.return_value = 0
    stream: Any = BufferedReader(BytesIO(bytes(5 << 20) + b"\n" + bytes(5 << 20)))
    assert [block.answer(lines, 0) for block in read_blocks(stream)] == [0, 0]
    texts = [call.args[0][0] for call in lines.add.call_args_list]
    assert len(texts) == 2
    assert max(map(len, texts)) < 2 << 20


def _unread(process: program.Process) -> int:
    """Return how many bytes in its input a process has not taken."""
    fcntl, termios = pytest.importorskip("fcntl"), pytest.importorskip("termios")
    count = (ctypes.c_int * 1)()
    fcntl.ioctl(process.stdin, termios.FIONREAD, count)
    return count[0]


@pytest.mark.parametrize(
    ("command", "number"),
    [
        pytest.param("enrich", signal.SIGTERM, marks=pytest.mark.long),
        pytest.param("enrich", signal.SIGINT, marks=pytest.mark.long),
        pytest.param("summarize", signal.SIGTERM, marks=pytest.mark.long),
        pytest.param("annotate", signal.SIGTERM, marks=pytest.mark.long),
        ("lookup", signal.SIGINT),
        pytest.param("lookup", signal.SIGTERM, marks=pytest.mark.long),
    ],
)
def test_a_signal_ends_a_wait(command: str, number: signal.Signals, tmp_path: Path) -> None:
    """Its exit path is that of a process whose threads read."""
    options = [] if command in ("lookup", "annotate") else ["--input-format", "csv"]
    if command == "enrich":
        options += ["--output", str(tmp_path / "out.csv")]
    args = (command, "-", *options)
    with started(*args, stdin=PIPE, stdout=subprocess.DEVNULL, stderr=PIPE) as process:
        send(process, b"ip\n8.8.8.8\n")
        while _unread(process):  # then the command waits for more
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(number)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert b"Traceback" not in errors
    assert list(tmp_path.iterdir()) == []


def test_without_a_standard_input_a_command_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python has no sys.stdin if the process was started without it."""
    monkeypatch.setattr(program, "has_input", False)
    for command in (("lookup",), *((name, "-") for name in _READERS)):
        assert "is closed" in program.refusal(*command)


#: Commands that print many lines, or few: what flushes them differs.
_PRINTERS = (
    *("lookup 8.8.8.8", "lookup 8.8.8.8 --format json", "prefixes country=US", "annotate many.txt"),
    *("grep --where country=US many.txt", "export {small} --format csv --output -", "fields"),
    *("enrich many.txt --output - --output-format jsonl", "info --json", "summarize many.txt"),
)


def _printing(command: str, folder: Path, **streams: Any) -> str:
    """Return the one line of a command that cannot print."""
    (folder / "many.txt").write_text("8.8.8.8\n" * 100_000, encoding="utf-8")
    environment = {"PYTHONUNBUFFERED": ""}
    with started(
        *words(command, small=SMALL), folder=folder, env=environment, stderr=PIPE, **streams
    ) as process:
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 2
    (line,) = errors.decode().splitlines()
    return line


@pytest.mark.parametrize("command", one_of_each(_PRINTERS[:6], lambda _command: "closed"))
def test_a_closed_standard_output_is_one_line(command: str, tmp_path: Path) -> None:
    line = _printing(command, tmp_path, preexec_fn=lambda: os.close(1))
    assert "standard output" in line
    assert "is closed; " in line


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
@pytest.mark.parametrize("command", one_of_each(_PRINTERS, lambda _command: "full"))
def test_a_full_standard_output_is_one_line(command: str, tmp_path: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        line = _printing(command, tmp_path, stdout=full)
    assert line == "geolookup: standard output cannot be written (No space left on device)"


_ENRICHED = ("enrich", "many.csv", "--no-header", "--ip-column", "column1")
#: Commands with more answers than a pipe holds.
_MANY = (
    *((*_ENRICHED, "--output-format", kind) for kind in ("csv", "jsonl")),
    *(("export", str(SMALL), "--format", kind) for kind in ("csv", "jsonl")),
)
_CLOSED: list[tuple[int, tuple[str, ...]]] = [
    *((0, args) for args in (("fields",), ("lookup", "1.1.1.1"), ("--help",))),
    (0, ("prefixes", "country=AU")),
    *((10, (name,)) for name in ("lookup", "annotate")),
    *((10, (*args, "--output", "-")) for args in _MANY),
]


@pytest.mark.skipif(os.name != "posix", reason="the exit status is that of SIGPIPE")
@pytest.mark.parametrize(
    "case", one_of_each(_CLOSED, lambda case: case if "lookup" in case[1] else "at the end")
)
def test_a_closed_pipe_ends_a_command(case: tuple[int, tuple[str, ...]], tmp_path: Path) -> None:
    """Before it writes, or in the middle; whether it flushes what it writes, or its end does."""
    read, args = case
    (tmp_path / "many.csv").write_text("8.8.8.8\n" * 300_000, encoding="utf-8")
    reader, writer = os.pipe()
    if not read:
        os.close(reader)
    with (
        (tmp_path / "many.csv").open("rb") as addresses,
        started(*args, folder=tmp_path, stdin=addresses, stdout=writer, stderr=PIPE) as process,
    ):
        os.close(writer)
        if read:
            assert os.read(reader, read)
            os.close(reader)
        assert (process.wait(60), process.stderr.read()) == (141, b"")


@pytest.mark.parametrize("name", MOMENTS)
def test_a_signal_at_a_bad_moment_ends_the_command(name: str) -> None:
    """Where its exit is dropped it comes again, but does not interrupt the removal of files."""
    python = ("-m", "tests.cli.bad_moments")
    with started(name, python=python, stdout=PIPE, stderr=PIPE) as process:
        printed, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (128 + signal.SIGTERM, b"")
    assert printed == (b"removed after 3 signals\n" if name.startswith("repeated") else b"")
