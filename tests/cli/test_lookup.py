"""``geolookup lookup``: members, instants, formats and errors; colours and widths on a terminal."""

from __future__ import annotations

import csv
import json
import signal
from pathlib import Path

import pytest

import geolookup
from tests.cli.program import held, pipe, run
from tests.cli.terminals import terminal
from tests.conftest import Build
from tests.internals.contract import FIELDS
from tests.servers import PATIENCE

AT = 1_795_132_800
ADDRESSES = b"8.8.8.8\n\n10.0.0.1\n  \nno address\n1.1.1.1"


def test_a_pipe_has_the_bytes_of_the_engine() -> None:
    done = pipe("lookup", "-", "--local-time-at", str(AT), data=ADDRESSES)
    inputs = ADDRESSES.decode().split()
    inputs[2:4] = ["no address"]
    assert done.stdout == b"".join(geolookup.open().json_lines(inputs, at=AT))
    assert done.returncode == 1
    assert done.stderr.decode().splitlines() == [
        "geolookup: line 3: Cannot geolocate private IP",
        "geolookup: line 5: Invalid IP address format",
    ]


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "2001:4860:4860::8888", "10.0.0.1", "::ffff:1.1.1.1"]
)
def test_one_address_has_the_answer_of_the_command(address: str) -> None:
    implied, named = run(address), run("lookup", address)
    assert (implied.returncode, implied.stderr) == (named.returncode, named.stderr)
    answers = [json.loads(done.stdout) for done in (implied, named)]
    for answer in answers:
        if answer["data"]:
            del answer["data"]["time"]["current_time"], answer["data"]["time"]["current_timestamp"]
    assert answers[0] == answers[1]


@pytest.mark.parametrize("arguments", [("8.8.8.8",), ("lookup", "8.8.8.8")])
def test_an_interrupted_lookup_has_no_traceback(arguments: tuple[str, ...]) -> None:
    with held("open", "manifest.json", *arguments) as process:
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=PATIENCE) == (b"", b"")
    assert process.returncode == 128 + signal.SIGINT


def test_chosen_fields_are_in_an_envelope_or_in_columns() -> None:
    wanted = ("--fields", "network.asn,ip", "--fields", "time.current_time", "--local-time-at")
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
    (tmp_path / "a.txt").write_text("8.8.8.8\n2606:4700:4700::1111\n10.0.0.1\n", encoding="utf-8")
    text = (tmp_path / "a.txt").read_text(encoding="utf-8")
    fields = ",".join(field.path for field in FIELDS if field.path != "ip")
    options = ("--local-time-at", str(AT), "--fields", f"{fields},error_code")
    out = tmp_path / "b.csv"
    run("enrich", str(tmp_path / "a.txt"), "--output", str(out), *options)
    enriched = list(csv.DictReader(out.read_text(encoding="utf-8").splitlines()))
    for value in (options, options[:2]):
        done = run("lookup", "--format", "csv", *value, text=text)
        rows = list(csv.DictReader(done.stdout.splitlines()))
        assert [row.pop("ip", None) for row in rows][-1] in ("", None)
        for row in enriched:
            row.pop("ip", None)
        assert rows == enriched


def test_a_wrong_argument_that_looks_like_a_name_has_a_hint() -> None:
    hint = "neither an address nor a file; host names are not resolved"
    for name in ("dns.google", "visits.csv", "8.8.8.8a"):
        for args, number in (((name,), 1), (("lookup", "10.0.0.1", "x", name, "a.b"), 3)):
            assert run(*args).stderr == f"geolookup: argument {number} is {hint}\n"
    for text in ("999.1.1.1", "10.0.0.1", "::1::", "x", "8.8.8.0/x"):
        assert run("lookup", text).stderr == ""
    for text in ("8.8.8.0/24", "2001:db8::/32"):  # of a network other commands have the answers
        told = run(text).stderr
        assert told.startswith("geolookup: argument 1 is a network; 'geolookup prefixes --within ")
        assert "'geolookup history NETWORK'" in told
    for text in ("8.8.8.8:443", "[2001:4860:4860::8888]:443", "10.0.0.1, 8.8.8.8"):
        hint = "an address with more text around it; pass --clean"
        assert run("lookup", text).stderr == f"geolookup: argument 1 is {hint}\n"
    assert run("lookup", "--clean", "10.0.0.1:443").stderr == ""


def test_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.setenv("TERM", "xterm")  # flags are shown
    text = "8.8.8.8\nx\n2606:4700:4700::1111\n"
    done = run("lookup", "--format", "table", "--local-time-at", str(AT), text=text)
    first, error, second = done.stdout.splitlines()
    assert first.startswith(
        "8.8.8.8               🇺🇸 Mountain View, California, United States  2026"
    )
    assert error.split("  ")[0] == "x"
    assert error.index("Invalid IP address format") == first.index("🇺🇸")
    assert error.split()[-3:] == ["-"] * 3
    assert second == (
        "2606:4700:4700::1111  🇺🇸 San Francisco, California, United States  2026-11-19 16:00 PST"
        "  AS13335 Cloudflare, Inc.  2606:4700:4700::/48"
    )
    assert done.stderr == ""
    text = run("200.160.0.8", "--format", "table", "--local-time-at", str(AT)).stdout
    assert " 21:00 UTC-03:00 " in text
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
    (tmp_path / "10.0.0.1.csv").write_text("ip\n10.0.0.1\n", encoding="utf-8")
    done = run("lookup", "8.8.8.8", str(tmp_path / "10.0.0.1.csv"))
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith("geolookup: argument 2 is a file; 'geolookup enrich FILE")
    assert "10.0.0.1" not in line
    *_, line = run("lookup", str(tmp_path), "8.8.8.8").stderr.splitlines()
    assert line.startswith("geolookup: argument 1 is a folder; 'geolookup lookup -d FOLDER IP'")
    done = run("lookup", text="x\n" * 3000)
    *named, last = done.stderr.splitlines()
    assert named == [f"geolookup: line {n}: Invalid IP address format" for n in range(1, 11)]
    assert last == "geolookup: 2,990 other addresses without an answer"
    assert run("lookup", text="x\n" * 10).stderr.splitlines() == named
    assert "line 3001: " in run("lookup", text="8.8.8.8\n" * 3000 + "x").stderr


@pytest.mark.long
def test_colours_and_typed_addresses() -> None:
    shown, status = terminal("8.8.8.8", "10.0.0.1", "--local-time-at", "2026-11-20T00:00Z")
    first, second = shown.splitlines()
    assert first == (
        "\x1b[1m8.8.8.8\x1b[0m   🇺🇸 Mountain View, California, United States"
        "  2026-11-19 16:00 PST  AS15169 Google LLC  8.8.8.0/24"
    )
    assert second.startswith("\x1b[31m10.0.0.1  Cannot geolocate private IP")
    assert second.endswith("\x1b[0m")
    assert status == 1
    for plain in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        for form in ("table", "json", "csv"):
            shown, _ = terminal("8.8.8.8", "--format", form, environment=plain)
            assert "\x1b" not in shown
            assert ("🇺🇸" in shown) is ("NO_COLOR" in plain or form != "table")
    shown, status = terminal("-", typed=b"8.8.8.8\nx\n\x04", environment={"NO_COLOR": "1"})
    lines = shown.splitlines()
    assert "geolookup: reading addresses from standard input" in shown
    assert lines[-1].startswith("x        Invalid IP address format")
    assert "AS15169 Google LLC" in lines[-2]
    assert status == 1


def test_a_carriage_return_ends_no_row(tmp_path: Path, build: Build) -> None:
    """Without quotes, readers of CSV take it for the end of a line."""
    folder, _ = build({"a.csv": 'network,city_name\n8.8.8.0/24,"A\rB"\n'})
    fields = ("--format", "csv", "--fields", "location.city_name", "--dataset", str(folder))
    assert pipe("lookup", "8.8.8.8", *fields).stdout == b'location_city_name\n"A\rB"\n'
