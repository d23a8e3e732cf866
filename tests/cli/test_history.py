"""``geolookup history``: the text of changes, JSON lines, errors and exit status."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

import geolookup
from tests.cli.program import run
from tests.conftest import build_at
from tests.internals.store import Change, pointer

_HEADER = "network,country_code,city_name,asn,isp,own.site\n"
_ROWS = (
    "8.8.8.0/24,AT,Vienna,8447,A1,\n10.0.0.0/8,,,,,HQ\n",
    "8.8.8.0/25,AT,Linz,8447,,\n8.8.8.128/25,AT,Vienna,8447,A1,\n10.0.0.0/8,,,,,Lab\n",
    "8.8.8.0/24,IT,Milan,8447,A1,\n",
)
_RECIPE = """
[dataset]
name = "history"

[columns]
site = { type = "text", private = true }

[[source]]
format = "csv"
path = "rows.csv"
name = "acme"
"""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of three generations, a week each, of which the second was rolled back."""
    folder = tmp_path_factory.mktemp("history")
    store = folder / "store"
    for number, rows in enumerate(_ROWS):
        (folder / str(number)).mkdir()
        files: dict[str, str | bytes] = {"rows.csv": _HEADER + rows}
        recipe = _RECIPE.replace("acme", f"acme-{number}" if number == 2 else "acme")
        geolookup.publish(build_at(folder / str(number), files, recipe)[0], store)
        if number == 1:
            geolookup.rollback(store)
    days = ("01", "08", "09", "15")
    content = pointer.read(store)
    content.changes = [
        Change(change.generation, f"2026-03-{day}T00:00:00Z")
        for change, day in zip(content.changes, days, strict=True)
    ]
    pointer.save(store, content)
    return store


def _short(store: Path) -> list[str]:
    return [change.generation[:12] for change in pointer.read(store).changes]


def test_the_text_of_an_address(store: Path) -> None:
    first, second, _, third = _short(store)
    assert run("history", "8.8.8.8", "-d", str(store)).stdout.splitlines() == [
        "8.8.8.8",
        f"2026-03-15T00:00:00Z  generation {third}",
        "  location.country_code        AT -> IT",
        "  location.city_name           Vienna -> Milan",
        "  time.zone                    Europe/Vienna -> Europe/Rome",
        "  source of location           acme -> acme-2",
        f"2026-03-09T00:00:00Z  generation {first}",
        "  location.city_name           Linz -> Vienna",
        "  source of location           acme",
        "  network.isp                  unknown -> A1",
        "  source of isp                unknown -> acme",
        f"2026-03-08T00:00:00Z  generation {second}",
        "  location.city_name           Vienna -> Linz",
        "  source of location           acme",
        "  network.isp                  A1 -> unknown",
        "  source of isp                acme -> unknown",
        f"2026-03-01T00:00:00Z  first known generation {first}",
        "  location.continent_code      EU",
        "  location.country_code        AT",
        "  location.city_name           Vienna",
        "  time.zone                    Europe/Vienna",
        "  network.asn                  8447",
        "  network.isp                  A1",
    ]


def test_json_is_what_python_returns(store: Path) -> None:
    done = run("history", "-", "--json", "-d", str(store), text="8.8.8.8\n8.8.8.0/24\n")
    with geolookup.open(store) as engine:
        for line, asked in zip(done.stdout.splitlines(), ("8.8.8.8", "8.8.8.0/24"), strict=True):
            history = engine.history(asked)
            assert json.loads(line) == json.loads(json.dumps(asdict(history)))
            countries = [change.fields.get("location.country_name") for change in history.changes]
            assert ("Austria", "Italy") in countries


def test_errors(store: Path) -> None:
    done = run("history", "x", "8.8.8.0/8", "8.8.8.8", "-d", str(store))
    assert (done.returncode, done.stdout.splitlines()[0]) == (1, "8.8.8.8")
    assert done.stderr.splitlines() == [
        "geolookup: argument 1: Invalid IP address format",
        "geolookup: argument 2: Invalid IP address format",
    ]
