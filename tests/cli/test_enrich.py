"""``geolookup enrich`` as a shell runs it: pipes, signals, folders, memory."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import geolookup
from tests.cli.program import pipe, refusal, run, started
from tests.files import tables

OPTIONS = ("--fields", ",".join(tables.FIELDS), "--local-time-at", str(tables.AT))


def test_standard_input_to_standard_output(sample: geolookup.Engine) -> None:
    wanted = tables.answers(sample, tables.ADDRESSES)
    for kind in tables.KINDS[:-1]:
        options = ("--input-format", kind, "--output-format", kind, *OPTIONS)
        done = pipe(
            "enrich", "-", "--output", "-", *options, data=tables.written(tables.table(), kind)
        )
        assert done.returncode == 0, done.stderr.decode()
        rows = [
            {name: row[name] for name in tables.NAMES} for row in tables.read(done.stdout, kind)
        ]
        assert rows == (tables.as_cells(wanted) if kind in ("csv", "tsv") else wanted), kind
        line = done.stderr.decode().splitlines()[-1]
        assert line.startswith("10 rows, 5 located, 0 unknown, 4 invalid, 1 private in ")

    for suffix in (".gz", ".bz2", ".xz", ".zst"):  # the first bytes show the compression
        args = ("-", "-o", "-", "--input-format", "csv", "-f", "country")
        done = pipe("enrich", *args, data=tables.packed(b"ip\n8.8.8.8\n", suffix))
        assert done.stdout == b"ip,location_country_code\n8.8.8.8,US\n", suffix
    parquet = ("--input-format", "csv", "--output-format", "parquet")
    done = pipe("enrich", "-", "--output", "-", *parquet, data=b"ip\n8.8.8.8\n")
    assert b"parquet cannot be written to standard output; name a file" in done.stderr


def test_standard_output_has_the_format_of_the_input(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("ip\n8.8.8.8\n", "utf-8")
    (tmp_path / "a.jsonl").write_text('{"ip":"8.8.8.8"}\n', "utf-8")
    (tmp_path / "a.txt").write_text("8.8.8.8\n", "utf-8")
    for name, located in (
        ("a.csv", b"ip,location_country_code\n8.8.8.8,US\n"),
        ("a.jsonl", b'{"ip":"8.8.8.8","location_country_code":"US"}\n'),
    ):
        done = pipe("enrich", str(tmp_path / name), "-o", "-", "-f", "country")
        assert (done.returncode, done.stdout) == (0, located)
    line = refusal("enrich", str(tmp_path / "a.txt"), "-o", "-")
    assert line == "-: a stream has no suffix; name the format by --output-format"


def test_the_number_of_threads_is_of_the_environment(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("ip\n8.8.8.8\n", "utf-8")
    for threads, status in (("1", 0), ("none", 2), ("0", 2)):
        args = ("enrich", str(tmp_path / "a.csv"), "-o", "-", "-f", "country")
        done = run(*args, env={"GEOLOOKUP_THREADS": threads})
        assert done.returncode == status
        assert ("GEOLOOKUP_THREADS is" in done.stderr) is bool(status)


def test_the_input_is_never_the_output(tmp_path: Path) -> None:
    source, symbolic, hard = (tmp_path / name for name in ("a.csv", "b.csv", "c.csv"))
    source.write_text("ip\n8.8.8.8\n", encoding="utf-8")
    symbolic.symlink_to(source)
    hard.hardlink_to(source)
    for output in (source, symbolic, hard):
        line = refusal("enrich", str(source), "--output", str(output), "--force")
        assert f"{output}: is the input" in line
        assert source.read_text(encoding="utf-8") == "ip\n8.8.8.8\n"


def test_cleaned_addresses_and_a_replaced_file(tmp_path: Path) -> None:
    rows = b'ip\n8.8.8.8:53\n"10.0.0.1, 8.8.8.8"\n203.0.114.1\n8.8.8.8x\n'
    (tmp_path / "a.csv").write_bytes(rows)
    args = (str(tmp_path / "a.csv"), "--output", "-", "--output-format", "csv", "--clean")
    done = run("enrich", *args, "--fields", "ip,network.asn,error_code", "--prefix", "x_")
    assert done.stderr.startswith("4 rows, 2 located, 1 unknown, 1 invalid, 0 private in ")
    assert done.stdout == (
        "ip,x_ip,x_network_asn,x_error_code\n8.8.8.8:53,8.8.8.8,15169,\n"
        '"10.0.0.1, 8.8.8.8",8.8.8.8,15169,\n203.0.114.1,203.0.114.1,,\n8.8.8.8x,,,10001\n'
    )
    (tmp_path / "a.csv").write_text("ip\n8.8.8.8\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text("old", encoding="utf-8")
    output = ("--output", str(tmp_path / "b.csv"), "--fields", "network.asn", "--force")
    assert run("enrich", args[0], *output).returncode == 0
    assert (tmp_path / "b.csv").read_text(encoding="utf-8") == "ip,network_asn\n8.8.8.8,15169\n"


@pytest.mark.long
@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")
@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (signal.SIGTERM, "csv"),
        (signal.SIGINT, "csv.gz"),
        (signal.SIGKILL, "parquet"),
    ],
)
def test_a_signal_leaves_no_output(kind: str, number: signal.Signals, tmp_path: Path) -> None:
    """The input is a pipe that never ends: the command is in the middle of it."""
    output = tmp_path / f"out.{kind}"
    args = ("-", "--output", str(output), "--input-format", "csv", "--fields", "network.asn")
    streams: Any = {"stdin": subprocess.PIPE, "stderr": subprocess.PIPE}
    with started("enrich", *args, **streams) as process:
        process.stdin.write(b"ip,note\n" + (b"8.8.8.8," + b"x" * 1000 + b"\n") * 20_000)
        process.stdin.flush()
        while not list(tmp_path.iterdir()):
            assert process.poll() is None
            time.sleep(0.01)
        assert not output.exists()
        process.send_signal(number)
        # A signal is seen between two reads: the pipe goes on until the process has ended.
        ends = time.monotonic() + 60
        with suppress(BrokenPipeError):
            while process.poll() is None and time.monotonic() < ends:
                process.stdin.write(b"8.8.8.8,x\n" * 1000)
        status = process.wait(60)
        told = process.stderr.read()
    assert status == (-number if number == signal.SIGKILL else 128 + number)
    assert told == b""
    assert not output.exists()
    if number != signal.SIGKILL:
        assert list(tmp_path.iterdir()) == []


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc").exists(), reason="Linux counts KiB")
def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    """Ten times the rows take little more; held whole, 2 million would take 150 MB and up."""
    peaks = [_peak(tmp_path, count) for count in (200_000, 2_000_000)]
    assert peaks[1] - peaks[0] < 100_000, peaks  # KiB


def _peak(folder: Path, count: int) -> int:
    block = "".join(f"8.8.{n % 251}.{n % 241},8.8.{n % 251}\n" for n in range(100_000))
    path = folder / "in.csv"
    path.write_text("ip,note\n" + block * (count // 100_000), encoding="utf-8")
    args = ("enrich", str(path), "--output", str(folder / "out.parquet"), "--force")
    options = ("--fields", "location.city_name,network.asn")
    with started(*args, *options, stderr=subprocess.PIPE) as process:
        told = process.stderr.read().decode()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, told
    assert f"{count:,} rows" in told
    return used.ru_maxrss


NAMELESS = b'8.8.8.8,"a, b"\n10.0.0.1,\n,""\n'
COUNTRY = ("--fields", "location.country_code", "--input-format", "csv")


def test_without_a_header() -> None:
    options = ("-", "--output", "-", "--no-header", "--ip-column", "column1", *COUNTRY)
    done = pipe("enrich", *options, "--output-format", "csv", data=NAMELESS)
    assert done.stdout == b'8.8.8.8,"a, b",US\n10.0.0.1,,\n,"",\n'
    done = pipe("enrich", *options, "--output-format", "jsonl", data=NAMELESS)
    assert [json.loads(line) for line in done.stdout.splitlines()] == [
        {"column1": "8.8.8.8", "column2": "a, b", "location_country_code": "US"},
        {"column1": "10.0.0.1", "column2": None, "location_country_code": None},
        {"column1": None, "column2": "", "location_country_code": None},
    ]
    done = pipe("enrich", *options, "--output-format", "csv", data=NAMELESS + b"1.1.1.1\n")
    assert b"standard input, row 4: 1 cells where row 1 has 2; repair the row" in done.stderr
    for data in (
        *(NAMELESS, b"8.8.8.8:443,x\n", b"8.8.8.8;x\n", b"at 2606:4700::1111 - -\n"),
        b"[::1]:80\n",
    ):
        done = pipe("enrich", "-", "--output", "-", *COUNTRY, "--output-format", "csv", data=data)
        assert done.returncode == 2
        assert b"pass --no-header" in done.stderr
        assert not any(word in done.stderr for word in (b"8.8.8.8", b"4700", b"::1"))
