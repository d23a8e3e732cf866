"""Text from outside does not act on a terminal, whatever command prints it."""

from __future__ import annotations

import io
import os
import re
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.cli.program import pipe, run
from tests.cli.terminals import terminal
from tests.internals.progress import Progress
from tests.internals.terminal import filter_terminals, own_sequence
from tests.skips import names_in_utf8

#: A title, a colour of C1, a carriage return, DEL, reversed text, a line separator and a colour.
HOSTILE = "a\x1b]0;b\x07\x9b35m\rc\x7f\u202ed\u2066\u200e\u061c\u2028e\x1b[35m"
#: Without control characters of ASCII: a build nulls texts with these.
TEXT = re.sub("[\x00-\x1f\x7f]", "", HOSTILE)
#: What a terminal obeys, but for a line feed, with or without a carriage return, and tabs.
_CONTROL = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]|\r(?!\n)"
)
#: Our own: attributes of text, but for the colour above, and an erased line.
_OWN = re.compile(r"\x1b\[(?!35m)[0-9;]*m|\r\x1b\[K")
#: How the title is written: as in JSON, in errors as in Python, or quoted in a usage error; of a
#: dataset, whose texts have no control characters of ASCII, the colour of C1 after it.
_VISIBLE = re.compile(r"\\(u001b|x1b|\\x1b)\]0;b|a\]0;b\\+(u009b|x9b)35m")
#: Arguments that make a command print ``HOSTILE`` from a dataset, a file, a store or accounts, as
#: an argument, in JSON and in errors; {} is a name that contains it.
#: The first ones, of a dataset, of accounts and of a file, are in the fast tier.
_PRINTING = (
    *("annotate log.txt --dataset {}", "accounts keys list --accounts sqlite:///accounts.db"),
    *("info {}", "info {} --json", "annotate log.txt --template {{network.isp}} --dataset {}"),
    *("accounts usage --accounts sqlite:///accounts.db", "build {}.csv --output {}.built --force"),
    "accounts keys create --accounts sqlite:///accounts.db --name x --plan {}",
    *("build {}.none --output x", "check {}.csv", "check {}.toml", "diff {} {} --json"),
    *("diff {} {}", "enrich rows.csv --output - --output-format csv --dataset {}"),
    *("explain 8.8.8.8 --dataset {}", "explain 8.8.8.8 --json --dataset {}", "fields --{}"),
    *("export {} --format csv --output -", "grep log.txt --where country=US --dataset {}"),
    *("history 8.8.8.8 --dataset store", "lookup 8.8.8.8 --dataset {}", "recipes show {}"),
    *("lookup 8.8.8.8 --dataset {} --format csv", "prefixes city={}x", "score {} --truth {}.csv"),
    "prefixes country=US --by location.city_name --format csv --dataset {}",
    *("summarize rows.csv --dataset {}", "store verify {}"),
)
_CASES = (*_PRINTING[:3], *(pytest.param(line, marks=pytest.mark.long) for line in _PRINTING[3:]))


@pytest.fixture(scope="module")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of files that hold ``HOSTILE``, and have it as a name."""
    folder = tmp_path_factory.mktemp("outside")
    rows = f'network,country_code,city_name,isp\n8.8.8.0/24,US,"{TEXT}","{TEXT}"\n'
    (folder / f"{HOSTILE}.csv").write_text(rows, encoding="utf-8", newline="")
    (folder / f"{HOSTILE}.toml").write_text("[dataset\n", encoding="utf-8")
    (folder / f"{HOSTILE}.bak").write_bytes(b"no backup")
    (folder / "rows.csv").write_text(f"ip,name\n8.8.8.8,{HOSTILE[:5]}\n", encoding="utf-8")
    (folder / "log.txt").write_text(f"8.8.8.8 {HOSTILE}\r\n", encoding="utf-8", newline="")
    built = run("build", f"{HOSTILE}.csv", "--output", HOSTILE, folder=folder)
    assert built.returncode == 0, built.stderr
    stored = run("store", "publish", HOSTILE, "--store", "store", folder=folder)
    assert stored.returncode == 0, stored.stderr
    _create_account(folder)
    return folder


def _create_account(folder: Path) -> None:
    """Create an account, and give it the name that ``accounts keys create`` refuses."""
    accounts = ("--accounts", "sqlite:///accounts.db")
    done = run(
        "accounts", "keys", "create", *accounts, "--plan", "free", "--name", "x", folder=folder
    )
    assert done.returncode == 0, done.stderr
    with closing(sqlite3.connect(folder / "accounts.db")) as database, database:
        database.execute("update account set name = ?", (HOSTILE,))


@names_in_utf8
@pytest.mark.parametrize("command", _CASES)
def test_a_command_prints_no_control_character(command: str, outside: Path) -> None:
    written = [part.format(HOSTILE) for part in command.split(" ")]
    shown, status = terminal(*written, folder=outside)
    assert not _CONTROL.search(_OWN.sub("", shown)), (status, shown)
    assert _VISIBLE.search(shown), (status, shown)
    assert "Traceback" not in shown


@names_in_utf8
def test_a_pipe_has_the_bytes_that_a_terminal_must_not_obey(outside: Path) -> None:
    log = (outside / "log.txt").read_bytes()
    where = ("--where", "location.country_code=US", "--dataset", HOSTILE)
    assert pipe("grep", "log.txt", *where, folder=outside).stdout == log
    for arguments in (
        ("export", HOSTILE, "--format", "csv", "--output", "-"),
        ("prefixes", *where[1:], "--by", "location.city_name", "--format", "csv"),
    ):
        printed = pipe(*arguments, folder=outside).stdout
        assert HOSTILE.encode() in printed or TEXT.encode() in printed, arguments


_END = b"--end--"


@contextmanager
def _on_terminal(encoding: str = "utf-8") -> Iterator[Callable[[], bytes]]:
    """Make a terminal of standard output and error; yield a function that reads it.

    The terminal writes a carriage return before each line feed.
    """
    ours, theirs = pytest.importorskip("pty").openpty()
    with (
        pytest.MonkeyPatch.context() as patch,
        os.fdopen(theirs, "w", encoding=encoding) as out,
        os.fdopen(os.dup(theirs), "w", encoding=encoding) as err,
    ):
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        filter_terminals()

        def shown() -> bytes:
            sys.stdout.flush()
            sys.stderr.flush()
            os.write(err.fileno(), _END)
            written = b""
            while not written.endswith(_END):
                written += os.read(ours, 65536)
            return written.removesuffix(_END)

        yield shown
    os.close(ours)


def test_a_character_that_is_written_in_two_parts() -> None:
    # C1 in UTF-8, CR LF, a bidirectional control, bytes that are not UTF-8, and CR in the end.
    parts = b"a\xc2", b"\x9bb\r", b"\nc\xe2\x80", b"\xaed\xc3\xa9", b"\xff\x9b\r", b"e\x1b"
    with _on_terminal() as shown:
        for part in parts:
            assert sys.stdout.buffer.write(memoryview(part)) == len(part)
            sys.stdout.buffer.flush()
        assert shown() == (b"a\\u009bb\r\r\nc\\u202ed\xc3\xa9\\xff\\x9b\\u000de\\u001b")
    with _on_terminal("latin-1") as shown:
        sys.stdout.buffer.write("é\x9b".encode())
        assert shown() == b"\xc3\xa9\xc2\\u009b"


def test_our_own_sequences_act_and_others_next_to_them_do_not() -> None:
    with _on_terminal() as shown:
        red = own_sequence("\x1b[31m", sys.stdout)
        print(f"{red}a\x1b[1m", end="")
        assert shown() == b"\x1b[31ma\\u001b[1m"
        progress = Progress()
        with progress.stage("b\x1b]0;\n"):
            progress.note("c\x07")
        begun, timed, noted, end = shown().split(b"\r\x1b[K")
    assert timed.startswith(b"b\\x1b]0;\\n  ")
    assert (begun, noted, end) == (b"", b"b\\x1b]0;\\n  c\\x07", b"")


def test_a_stream_that_is_no_terminal_is_not_filtered(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), "utf-8")
    monkeypatch.setattr(sys, "stdout", stream)
    monkeypatch.setattr(sys, "stderr", None)  # a process may be started without it
    filter_terminals()
    assert sys.stdout is stream
    assert sys.stderr is None
    assert own_sequence("\x1b[1m", stream) == "\x1b[1m"
