"""``geolookup lookup`` on a terminal: colours, width, and characters, on a real pseudo-terminal."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

from geolookup.cli.terminal_text import in_charset, shortened, width_of
from tests.conftest import ROOT, Build, build_at

_STYLE = re.compile(r"\x1b\[[0-9;]*m")
CSV = (
    "network,country_code,region_name,city_name,time_zone,asn,asn_organization\n"
    "8.8.8.0/24,BR,Łódź 東京,São Paulo,America/Sao_Paulo,64511,Associação de Redes\n"
)


def terminal(
    *arguments: str,
    columns: int = 200,
    typed: bytes = b"",
    environment: Mapping[str, str] = MappingProxyType({}),
) -> tuple[str, int]:
    """Return what the program writes to a terminal, and its exit status."""
    pty, termios = pytest.importorskip("pty"), pytest.importorskip("termios")
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, columns))
    names = {"LC_ALL": "C.UTF-8", "TERM": "xterm", "NO_COLOR": "", **environment}
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in ("COLUMNS", "LINES", "PYTHONIOENCODING", "PYTHONUTF8")
    }
    with subprocess.Popen(
        [sys.executable, "-m", "geolookup", *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=ROOT,
        env={**kept, **names},
    ) as process:
        os.close(theirs)
        os.write(ours, typed)
        written = b""
        try:
            while part := os.read(ours, 4096):
                written += part
        except OSError:  # Linux: the other end is closed
            pass
    os.close(ours)
    encoding = environment.get("PYTHONIOENCODING", "utf-8")
    return written.decode(encoding).replace("\r\n", "\n"), process.returncode


@pytest.mark.long
def test_colours_and_typed_addresses() -> None:
    shown, status = terminal("8.8.8.8", "10.0.0.1", "--at", "2026-11-20T00:00Z")
    first, second = shown.splitlines()
    assert first == (
        "\x1b[1m8.8.8.8\x1b[0m  🇺🇸 Mountain View, California, United States"
        "  2026-11-19 16:00 PST  AS15169 Google LLC  8.8.8.0/24"
    )
    assert second == "\x1b[31margument 2: Cannot geolocate private IP\x1b[0m"
    assert status == 1
    for plain in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        for form in ("table", "json", "csv"):
            shown, _ = terminal("8.8.8.8", "--format", form, environment=plain)
            assert "\x1b" not in shown
            assert ("🇺🇸" in shown) is ("NO_COLOR" in plain or form != "table")
    shown, status = terminal("-", typed=b"8.8.8.8\nx\n\x04", environment={"NO_COLOR": "1"})
    lines = shown.splitlines()
    assert "geolookup: reading addresses from standard input" in shown
    assert lines[-1] == "line 2: Invalid IP address format"
    assert "AS15169 Google LLC" in lines[-2]
    assert status == 1


@pytest.mark.long
@pytest.mark.parametrize("columns", [20, 40, 80])
def test_lines_fit_a_narrow_terminal(columns: int) -> None:
    for fields in ((), ("--fields", "location,network")):
        shown, status = terminal("8.8.8.8", "2606:4700:4700::1111", *fields, columns=columns)
        lines = _STYLE.sub("", shown).splitlines()
        assert status == 0
        assert max(map(width_of, lines)) <= max(columns, len("2606:4700:4700::1111"))
        assert [line for line in lines if not line.startswith("  ")][1].startswith("2606:")
        assert len(lines) > 2


@pytest.mark.long
def test_characters_that_the_terminal_lacks(tmp_path: Path) -> None:
    dataset, _ = build_at(tmp_path, {"a.csv": CSV})
    for environment, place in (
        ({"LC_ALL": "C"}, "Sao Paulo, Lodz ??, Brazil"),
        ({"PYTHONIOENCODING": "latin-1"}, "São Paulo, Lódz ??, Brazil"),
        ({"TERM": "linux"}, "São Paulo, Łódź 東京, Brazil"),
        ({}, "🇧🇷 São Paulo, Łódź 東京, Brazil"),
    ):
        shown, _ = terminal("8.8.8.8", "--dataset", str(dataset), environment=environment)
        assert f"  {place}  " in _STYLE.sub("", shown).replace("\x1b[0m", ""), environment


@pytest.mark.long
def test_text_of_a_dataset_does_not_act_on_the_terminal(build: Build) -> None:
    folder, _ = build({"a.csv": "network,city_name\n8.8.8.0/24,\x1b]0;b\x07\x9b31m\x7f\n"})
    for form in (
        *("--format=table", "--format=json", "--compact", "--format=csv"),
        "--fields=location.city_name",
        "--compact --fields=location.city_name",
    ):
        named = ("8.8.8.8", "--dataset", str(folder), *form.split())
        shown, _ = terminal(*named, environment={"NO_COLOR": "1"})
        assert "b" in shown
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", shown), form
        if form == "--compact":
            city = json.loads(shown)["data"]["location"]["city_name"]
            assert city == "\x1b]0;b\x07\x9b31m\x7f"


def test_widths_and_characters() -> None:
    assert list(map(width_of, ("abc", "São", "東京", "🇧🇷", "e\u0301"))) == [3, 3, 4, 2, 1]
    assert shortened("Mountain View", 9, "utf-8") == "Mountain…"
    assert shortened("Mountain View", 9, "ascii") == "Mounta..."
    assert shortened("東京都", 5, "utf-8") == "東京…"
    assert in_charset("Łódź ß 東 é", "latin-1") == "Lódz ß ? é"
    assert in_charset("Łódź ß 東 é", "ascii") == "Lodz ss ? e"
    assert in_charset("Ærø Œuf", "ascii") == "AEro OEuf"
