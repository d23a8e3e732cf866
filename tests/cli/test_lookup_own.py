"""``geolookup lookup`` on a dataset with own columns: named in ``--fields``, and on a terminal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import geolookup
from tests import own
from tests.cli.program import refusal, run
from tests.datasets import SMALL

IPS = ("8.8.8.8", "10.1.2.3", "192.168.0.1", "x")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(own.add_own(SMALL, tmp_path_factory.mktemp("own") / "dataset"))


def test_json_has_them_on_request_only(folder: str) -> None:
    done = run(*IPS, "-d", folder, "--local-time-at", "0")
    with geolookup.open(SMALL) as engine:
        assert done.stdout.splitlines() == [engine.lookup_json(ip, at=0).decode() for ip in IPS]
    done = run(*IPS, "-d", folder, "-f", "own.site_id,own.share,asn")
    public, private, unknown, malformed = map(json.loads, done.stdout.splitlines())
    columns = {"site_id": None, "share": 0.5}
    assert public["data"] == {"network": {"asn": 15169}, "own": columns}
    assert [*public] == [*private][:-1] == [*malformed]
    assert private["error_code"] == 10002
    assert private["own"] == {"site_id": "Branch", "share": 48}
    assert unknown["own"] == {"site_id": None, "share": None}
    assert done.returncode == 1


def test_csv_and_table(folder: str) -> None:
    done = run(*IPS, "-d", folder, "-f", "own.site_id,country,error_code", "--format", "csv")
    assert done.stdout.splitlines() == [
        "own_site_id,location_country_code,error_code",
        *(",US,", "Branch,,10002", ",,10002", ",,10001"),
    ]
    done = run(*IPS, "-d", folder, "-f", "own", "--format", "table")
    lines = [line.split() for line in done.stdout.splitlines()]
    assert lines[0] == ["ip", *(f"own.{name}" for name in own.NAMES)]
    assert lines[1] == ["8.8.8.8", "-", str(-(2**63)), "0.5", "yes"]
    assert lines[2] == ["10.1.2.3", "Branch", "-", "48", "-", "-"]
    assert done.stdout.splitlines()[-1] == "argument 4: Invalid IP address format"


def test_unknown_columns(folder: str, tmp_path: Path) -> None:
    assert "did you mean 'own.site_id'?" in refusal("8.8.8.8", "-d", folder, "-f", "own.site")
    problem = refusal("8.8.8.8", "-d", str(SMALL), "-f", "own")
    assert "--fields: the dataset has no own columns; declare them in [columns]" in problem
