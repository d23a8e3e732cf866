"""``geolookup export`` of plain files: streams, errors in one line, and nothing half-written."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.program import run
from tests.datasets import SMALL

FORMATS = ("csv", "jsonl", "parquet", "duckdb", "sqlite", "clickhouse", "postgresql")


def test_standard_output() -> None:
    fields = ("--fields", "network.asn", "--ranges", "cidr", "--within", "8.8.8.0/24")
    done = run("export", str(SMALL), "--format", "csv", "--output", "-", *fields)
    assert (done.returncode, done.stderr) == (0, "1 networks\n")
    assert done.stdout == "network,network_asn\n8.8.8.0/24,15169\n"


def test_databases_are_files(tmp_path: Path) -> None:
    done = run("export", str(SMALL), "--format", "sqlite", "--output", "-")
    remedy = "name a file or folder"
    assert done.returncode == 2
    assert done.stderr == f"geolookup: -: sqlite cannot be written to standard output; {remedy}\n"


@pytest.mark.long
@pytest.mark.parametrize("name", FORMATS)
def test_an_existing_output_stays(name: str, tmp_path: Path) -> None:
    output = tmp_path / "out"
    output.write_text("mine")
    done = run("export", str(SMALL), "--format", name, "--output", str(output))
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert output.read_text() == "mine"
    assert [*tmp_path.iterdir()] == [output]


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "limit"),
    [
        ("csv", 1 << 13),
        ("parquet", 1 << 13),
        ("duckdb", 1 << 13),
        ("duckdb", 1 << 19),  # enough until the log becomes the database
        ("sqlite", 1 << 13),
    ],
)
def test_a_full_disk_leaves_the_old_output(name: str, limit: int, tmp_path: Path) -> None:
    """A limit on the size of files stands for the disk."""
    output = tmp_path / "out"
    assert run("export", str(SMALL), "--format", name, "--output", str(output)).returncode == 0
    before = sorted((each, each.stat().st_ino) for each in tmp_path.rglob("*"))
    command = [sys.executable, "-m", "geolookup", "export", str(SMALL), "--format", name]
    done = subprocess.run(
        [*command, "--output", str(output), "--force"],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: _limit_files(limit),
    )
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    assert done.stderr.startswith(f"geolookup: {output}")
    assert sorted((each, each.stat().st_ino) for each in tmp_path.rglob("*")) == before


def _limit_files(limit: int) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))


@pytest.mark.long
@pytest.mark.parametrize("name", ["csv", "postgresql"])
def test_a_closed_pipe_ends_the_export(name: str) -> None:
    command = [sys.executable, "-m", "geolookup", "export", str(SMALL), "--format", name]
    with subprocess.Popen(
        [*command, "--output", "-"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.read(10)
        process.stdout.close()
        assert process.wait(60) != 0
        assert process.stderr.read() == b""
