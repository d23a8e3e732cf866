"""The commands as a shell runs them: output, exit status, and never a traceback."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from geolookup import Engine
from tests.cli.program import refused, run
from tests.conftest import Build
from tests.datasets import SMALL
from tests.internals.cli import program
from tests.internals.dataset import coverage_lines, size_lines


def test_answers_are_of_the_chosen_dataset(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("lookup", "--indent", "10.0.0.1").stdout.startswith('{\n  "success": false')
    assert run("lookup", "--compact", "10.0.0.1").stdout.startswith('{"success":false')
    folder, _ = build({"a.csv": "network,country_code\n8.8.8.0/24,FR\n"})
    by_option = run("lookup", "--dataset", str(folder), "8.8.8.8")
    monkeypatch.setenv("GEOLOOKUP_DATASET", str(folder))
    for done in (by_option, run("lookup", "8.8.8.8")):
        assert json.loads(done.stdout)["data"]["location"]["country_code"] == "FR"
        assert done.stderr == ""


def test_serve_without_its_extra_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "granian", None)  # as if it were not installed
    done = CliRunner().invoke(program, ["serve", "--accounts", "sqlite:///accounts.db"])
    problem = "the HTTP server is not installed; run pip install 'geolookup[http]'"
    assert (done.exit_code, done.output) == (2, f"geolookup: {problem}\n")


def test_a_first_argument_may_be_an_address_or_an_option() -> None:
    done = run("--compact", text="8.8.8.8")
    assert (done.returncode, json.loads(done.stdout)["success"]) == (0, True)
    for text in ("8.8.8.8", "::1", "10.0.0.1", "-", "999.1.1.1", "2001:db8::x", "dns.google", ""):
        looked_up = run("lookup", "--local-time-at", "0", text, text="1.1.1.1")
        for arguments in (
            (text, "--local-time-at", "0"),
            ("--local-time-at", "0", text),
            ("--local-time-at=0", text),
        ):
            done = run(*arguments, text="1.1.1.1")
            assert (done.returncode, done.stdout) == (looked_up.returncode, looked_up.stdout)


def test_build_writes_the_rejects_and_counts_them(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('network,city_name\n8.8.8.0/24,"a\nb"\nbad,c\n', "utf-8")
    recipe = tmp_path / "r.toml"
    recipe.write_bytes(b'[dataset]\nname = "t"\n[[source]]\nformat = "csv"\npath = "a.csv"\n')
    rejects, output = tmp_path / "rejects.csv", tmp_path / "out"
    assert "a.csv:4: not an address" in refused("build", str(recipe), "--output", str(output))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "r.toml"]
    options = ("--max-rejected", "1", "--rejects", str(rejects))
    done = run("build", str(recipe), "--output", str(output), *options)
    assert done.returncode == 0
    assert "rejected    1 row without a valid range (1 not an address)" in done.stdout
    assert rejects.read_text(encoding="utf-8").splitlines()[1:] == [
        f'{tmp_path / "a.csv"},4,not an address,"bad,c"'
    ]


def test_info_as_text_and_json(tmp_path: Path) -> None:
    text, described = run("info").stdout, json.loads(run("info", "--json").stdout)
    assert f"generation  {described['generation'][:12]}\n" in text
    assert "CC-BY-4.0" in text
    assert described["counts"]["ipv4_intervals"] > 500
    assert described["kernel"] == Engine.kernel
    assert f"\nkernel      {Engine.kernel}\n" in text
    age = described["age"]
    assert re.search(rf"^age +-?\d+ days? \({age['source']}, {age['date']}\)$", text, re.MULTILINE)
    assert described["sources"]
    for source in described["sources"]:
        assert source["coverage"]
        for line in coverage_lines(source["coverage"]):
            assert f"    decides {line}\n" in text
    files = {path.name: path.stat().st_size for path in SMALL.glob("*.arrow")}
    assert described["files"] == files
    for line in size_lines(files):
        assert f"{line}\n" in text
    dataset = tmp_path / "dataset"
    shutil.copytree(SMALL, dataset)
    manifest = json.loads((dataset / "manifest.json").read_text(encoding="utf-8"))
    del manifest["credits"][0]["name"]
    (dataset / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    for options in ((), ("--json",)):
        (line,) = refused("info", str(dataset), *options).splitlines()
        assert "manifest.json: the manifest is damaged; build it again" in line


def test_explain_as_text_and_json() -> None:
    text = run("explain", "8.8.8.8").stdout
    explained = json.loads(run("explain", "8.8.8.8", "--json").stdout)
    assert text.splitlines()[:2] == [
        f"8.8.8.8 in {explained['network']}",
        f"  same sources     {explained['same_sources']}",
    ]
    assert explained["layers"]
    for layer, decided in explained["layers"].items():
        assert f"\n  {layer:<16} " in text
        assert f"  {decided['prefix']}, {decided['same_values']}\n" in text
        assert f"  {decided['source']}, {decided['date']}, {decided['licence']}\n" in text
    assert "  location         Mountain View, California, US, America/Los_Angeles\n" in text
    assert "  asn              AS15169 Google LLC\n" in text


def test_explain_of_several_addresses() -> None:
    one, other = (run("explain", ip, "--json").stdout for ip in ("8.8.8.8", "1.1.1.1"))
    assert json.loads(one)["ip"] == "8.8.8.8"
    assert one.count("\n") == 1
    assert run("explain", "8.8.8.8", "1.1.1.1", "--json").stdout == one + other
    assert run("explain", "-", "--json", text="8.8.8.8\n\n1.1.1.1\n").stdout == one + other
    texts = [run("explain", ip).stdout for ip in ("8.8.8.8", "1.1.1.1")]
    done = run("explain", "8.8.8.8", "10.0.0.1", "1.1.1.1", "x", "2002:7f00:1::", "ff02::1")
    assert (done.returncode, done.stdout) == (1, "".join(texts))
    assert done.stderr.splitlines() == [
        "geolookup: argument 2: Cannot geolocate private IP: private use, RFC 1918",
        "geolookup: argument 4: Invalid IP address format",
        "geolookup: argument 5: Cannot geolocate private IP: loopback, RFC 1122",
        "geolookup: argument 6: Cannot geolocate private IP: multicast, RFC 4291",
    ]
    done = run("explain", "-", "--json", text="\nx\n")
    assert (done.returncode, done.stdout) == (1, run("lookup", "x").stdout)
    assert done.stderr == "geolookup: line 2: Invalid IP address format\n"
    assert refused("explain", "x", status=1)
