"""The packaged recipe ``cities``, from a publisher on this machine that has DB-IP's layout."""

from __future__ import annotations

import gzip
import re
import subprocess
import sys
import time
from datetime import date
from pathlib import Path

import pytest

import geolookup
from tests.cli.program import run, started
from tests.internals.builder import loading
from tests.internals.remote import transfer
from tests.updates.conftest import Publisher

pytest.importorskip("tzfpy", reason="the recipe needs the extra [enrich]")
pytest.importorskip("pycountry", reason="the recipe needs the extra [enrich]")

NETWORKS = 100
CITY = "EU,FR,Île-de-France,Paris,48.8566,2.3522"
OTHER = "NA,US,California,Mountain View,37.4,-122.08"
FILE = "dbip-city-lite-{month}.csv.gz"
ASN4, ASN6 = "origin-asn-ipv4-num.csv", "origin-asn-ipv6.csv"
SIX = "2a02:8::,2a02:8:ffff:ffff:ffff:ffff:ffff:ffff,"


def city_file(*changed: str) -> bytes:
    """A file of /24 networks from 8.0.0.0 on, of which the first have other cities."""
    places = [*changed, *([CITY] * (NETWORKS - len(changed)))]
    rows = [f"8.0.{at}.0,8.0.{at}.255,{place}" for at, place in enumerate(places)]
    return gzip.compress("\n".join([*rows, f"{SIX}{CITY}", ""]).encode())


@pytest.fixture(autouse=True)
def _december(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer, "today", lambda: date(2026, 12, 2))


@pytest.fixture
def recipe(publisher: Publisher, tmp_path: Path) -> str:
    """A copy of the recipe, with the addresses of the publisher, who has the file of November."""
    path = loading.copy("cities", tmp_path / "recipes")
    text = path.read_text(encoding="utf-8")
    text, count = re.subn(r'path = "https://[^"]*/', f'path = "{publisher.site.url}/', text)
    assert count == 3
    path.write_text(text, encoding="utf-8")
    publisher.put(FILE.format(month="2026-11"), city_file())
    publisher.put(ASN4, b"134217728,134243327,64500,Example\n")
    publisher.put(ASN6, f"{SIX}64999,Six\n".encode())
    return str(path)


def test_the_cities_of_the_world(publisher: Publisher, store: Path, recipe: str) -> None:
    """Licences and needs come before the first byte, once; each month is published."""
    first = run("update", recipe)
    assert (first.returncode, first.stderr) == (0, "")
    lines = first.stdout.splitlines()
    credit = "CC BY 4.0, credit it as 'IP Geolocation by DB-IP', https://db-ip.com"
    assert lines[0] == f"DB-IP City Lite: {credit}"
    assert all(": PDDL-1.0, credit it as 'ip-location-db, " in line for line in lines[1:3])
    assert lines[3].startswith("geolookup-cities: needs a download of 115 MB, ")
    assert lines[4].startswith("DB-IP City Lite: fetched ")
    with geolookup.open() as engine:
        place = engine.get("8.0.0.1", "city", "region_code", "time.zone", "asn")
        assert place == ("Paris", "IDF", "Europe/Paris", 64500)
        assert engine.get("2a02:8::1", "network.asn") == 64999
        assert engine.get("1.1.1.1", "network.asn") == 13335  # collected by hand
        sources = engine.metadata.sources
    assert (sources[0].attribution, sources[0].date) == ("IP Geolocation by DB-IP", "2026-11")
    again = run("update", recipe)
    assert again.stdout.splitlines()[0].startswith("DB-IP City Lite: unchanged, ")
    publisher.put(FILE.format(month="2026-12"), city_file(OTHER))
    newer = run("update", recipe)
    assert newer.stdout.splitlines()[0].startswith("DB-IP City Lite: fetched ")
    with geolookup.open() as engine:
        assert engine.get("8.0.0.1", "location.city_name") == "Mountain View"
        assert engine.metadata.sources[0].date == "2026-12"


def test_a_file_that_lost_its_cities_is_refused(
    publisher: Publisher, store: Path, recipe: str
) -> None:
    assert run("update", recipe).returncode == 0
    current = (store / "current").read_bytes()
    publisher.put(FILE.format(month="2026-12"), city_file(*["EU,FR,,,48.8,2.3"] * 10))
    done = run("update", recipe)
    assert done.returncode == 1
    assert "null_gained.location.city_name" in done.stderr
    assert (store / "current").read_bytes() == current


def test_swapped_coordinates_are_refused(publisher: Publisher, recipe: str) -> None:
    swapped = city_file(*["EU,FR,Île-de-France,Paris,2.3522,48.8566"] * 20)
    publisher.put(FILE.format(month="2026-12"), swapped)
    done = run("update", recipe)
    assert done.returncode == 1
    assert "far, the limit is" in done.stderr


def test_a_missing_library_ends_it_before_the_download(
    publisher: Publisher, store: Path, recipe: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "tzfpy", raising=False)
    monkeypatch.setitem(sys.modules, "tzfpy", None)
    done = run("update", recipe)
    assert (done.returncode, done.stdout, publisher.site.asked) == (1, "", [])
    assert done.stderr.count("\n") == 1
    assert done.stderr.endswith('; pip install "geolookup[enrich]"\n')


def test_in_the_background(publisher: Publisher, store: Path, recipe: str) -> None:
    """A process of its own: the licences once, then a line for each generation."""
    for number in range(12 * 80):  # whatever the month is
        month = f"{2025 + number // 12}-{number % 12 + 1:02}"
        publisher.put(FILE.format(month=month), city_file())
    with started(
        "update", recipe, "--every", "0.1s", stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        lines = [process.stdout.readline().decode() for _ in range(5)]
        asked = len(publisher.site.asked)
        while len(publisher.site.asked) < asked + 6:  # two polls more
            time.sleep(0.01)
        process.terminate()
        output, errors = process.communicate()
    assert lines[0].startswith("DB-IP City Lite: CC BY 4.0, credit it as ")
    assert lines[4].startswith("published: geolookup-cities, data of ")
    assert (process.returncode, output, errors) == (0, b"", b"")
