"""``geolookup lookup``: which members, at which instant, in which format, and where errors are."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

import geolookup
from geolookup.contract.fields import FIELDS
from tests.cli.program import pipe, refusal, run

AT = 1_795_132_800
ADDRESSES = b"8.8.8.8\n\n10.0.0.1\n  \nno address\n1.1.1.1"


def test_a_pipe_has_the_bytes_of_the_engine() -> None:
    done = pipe("lookup", "-", "--at", str(AT), data=ADDRESSES)
    given = ADDRESSES.decode().split()
    given[2:4] = ["no address"]
    assert done.stdout == geolookup.lookup_many_json(given, at=AT, lines=True)
    assert done.returncode == 1
    assert done.stderr.decode().splitlines() == [
        "geolookup: line 3: Cannot geolocate private IP",
        "geolookup: line 5: Invalid IP address format",
    ]


def test_chosen_fields_are_in_an_envelope_or_in_columns() -> None:
    wanted = ("--fields", "network.asn,ip", "--fields", "time.current_time", "--at")
    done = run("8.8.8.8", *wanted, "2026-11-20T00:00:00+00:00")
    assert json.loads(done.stdout) == geolookup.lookup("8.8.8.8") | {
        "data": {
            "ip": "8.8.8.8",
            "time": {"current_time": "2026-11-19T16:00:00-08:00"},
            "network": {"asn": 15169},
        }
    }
    done = run("8.8.8.8", "x", *wanted, str(AT), "--format", "csv")
    assert done.stdout.splitlines() == [
        "network_asn,ip,time_current_time",
        "15169,8.8.8.8,2026-11-19T16:00:00-08:00",
        ",,",
    ]
    assert done.stderr == "geolookup: argument 2: Invalid IP address format\n"
    assert done.returncode == 1


def test_a_csv_has_the_cells_of_enrich(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("8.8.8.8\n2606:4700:4700::1111\n10.0.0.1\n")
    text = (tmp_path / "a.txt").read_text()
    fields = ",".join(field.path for field in FIELDS if field.path != "ip")
    options = ("--at", str(AT), "--fields", f"{fields},error_code")
    out = tmp_path / "b.csv"
    run("enrich", str(tmp_path / "a.txt"), "--output", str(out), *options)
    enriched = list(csv.DictReader(out.read_text(encoding="utf-8").splitlines()))
    for given in (options, options[:2]):
        done = run("lookup", "--format", "csv", *given, text=text)
        rows = list(csv.DictReader(done.stdout.splitlines()))
        assert [row.pop("ip", None) for row in rows][-1] in ("", None)
        for row in enriched:
            row.pop("ip", None)
        assert rows == enriched


def test_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    text = "8.8.8.8\nx\n2606:4700:4700::1111\n"
    done = run("lookup", "--format", "table", "--at", str(AT), text=text)
    first, error, second = done.stdout.splitlines()
    assert first.startswith(
        "8.8.8.8               🇺🇸 Mountain View, California, United States  2026"
    )
    assert error == "line 2: Invalid IP address format"
    assert second == (
        "2606:4700:4700::1111  🇺🇸 San Francisco, California, United States  2026-11-19 16:00 PST"
        "  AS13335 Cloudflare, Inc.  2606:4700:4700::/48"
    )
    assert done.stderr == ""
    fields = "location.country_is_eu,location.country_languages,location.postal_code"
    done = run("8.8.8.8", "203.0.114.1", "--format", "table", "--fields", fields)
    names, *rows = [line.split() for line in done.stdout.splitlines()]
    assert names == ["ip", *fields.split(",")]
    assert [row[:2] for row in rows] == [["8.8.8.8", "no"], ["203.0.114.1", "-"]]
    assert rows[1][-1] == "-"


def test_clean_addresses_and_errors(tmp_path: Path) -> None:
    text = "\n [2001:4860:4860::8888]:443 \n8.8.8.8:53\n"
    options = ("--format", "csv", "--fields", "ip")
    for done in (
        run("lookup", "--clean", *options, text=text),
        run("lookup", *text.split(), "--clean", *options),
    ):
        assert done.stdout.splitlines() == ["ip", "2001:4860:4860::8888", "8.8.8.8"]
    assert run("lookup", *options, text=text).returncode == 1
    (tmp_path / "10.0.0.1.csv").write_text("ip\n10.0.0.1\n")
    done = run("lookup", "8.8.8.8", str(tmp_path / "10.0.0.1.csv"))
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith("geolookup: argument 2 is a file; 'geolookup enrich FILE")
    assert "10.0.0.1" not in line
    done = run("lookup", text="x\n" * 3000)
    *named, last = done.stderr.splitlines()
    assert named == [f"geolookup: line {n}: Invalid IP address format" for n in range(1, 11)]
    assert last == "geolookup: 2,990 more addresses without an answer"


def test_misuse_is_one_line() -> None:
    for args, problem in (
        (("--fields", "location.country_cod"), "did you mean 'location.country_code'?"),
        (("--at", "2026-11-20"), "--at needs an offset after the time, such as 2026-11-20T09:30Z"),
        (("--at", "soon"), "with offset, such as 2026-11-20T09:30Z"),
        (("--at", "1e30"), "--at: at must be from"),
        (("--indent", "--format", "csv"), "for json, not for csv"),
        (("-",), "either - or addresses"),
    ):
        line = refusal("8.8.8.8", *args)
        assert problem in line
        assert "8.8.8.8" not in line
