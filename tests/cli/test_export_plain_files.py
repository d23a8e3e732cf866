"""``geolookup export`` of plain files: streams, errors in one line, and nothing half-written."""

from __future__ import annotations

import resource
import signal
import subprocess
from pathlib import Path

import pytest

from tests.cli.program import refusal, run, started
from tests.datasets import SMALL
from tests.skips import needs

EXPORT = ("export", str(SMALL), "--format")


def test_standard_output() -> None:
    fields = ("--fields", "network.asn", "--ranges", "cidr", "--within", "8.8.8.0/24")
    done = run(*EXPORT, "csv", "--output", "-", *fields)
    assert (done.returncode, done.stderr) == (0, "1 networks\n")
    assert done.stdout == "network,network_asn\n8.8.8.0/24,15169\n"
    problem = "-: sqlite cannot be written to standard output; name a file or folder"
    assert refusal(*EXPORT, "sqlite", "--output", "-") == problem


@pytest.mark.parametrize(
    "names",
    [
        ("csv", "jsonl", "parquet", "sqlite", "clickhouse", "postgresql"),
        pytest.param(("duckdb",), marks=needs("duckdb")),
    ],
)
def test_an_existing_output_stays(tmp_path: Path, names: tuple[str, ...]) -> None:
    output = tmp_path / "out"
    output.write_text("mine")
    for name in names:
        assert refusal(*EXPORT, name, "--output", str(output)).startswith(f"{output}: exists")
        assert output.read_text() == "mine"
        assert [*tmp_path.iterdir()] == [output]


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "limit"),
    [
        ("csv", 1 << 13),
        ("parquet", 1 << 13),
        pytest.param("duckdb", 1 << 13, marks=needs("duckdb")),
        # Enough until the log becomes the database.
        pytest.param("duckdb", 1 << 19, marks=needs("duckdb")),
        ("sqlite", 1 << 13),
    ],
)
def test_a_full_disk_leaves_the_old_output(name: str, limit: int, tmp_path: Path) -> None:
    """A limit on the size of files stands for the disk."""
    output = tmp_path / "out"
    command = (*EXPORT, name, "--output", str(output))
    assert run(*command).returncode == 0
    before = sorted((each, each.stat().st_ino) for each in tmp_path.rglob("*"))
    with started(
        *command, "--force", stderr=subprocess.PIPE, preexec_fn=lambda: _limit_files(limit)
    ) as process:
        _, told = process.communicate(timeout=60)
    assert process.returncode == 2, told
    assert told.startswith(f"geolookup: {output}".encode())
    assert told.count(b"\n") == 1, told
    assert sorted((each, each.stat().st_ino) for each in tmp_path.rglob("*")) == before


def _limit_files(limit: int) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
