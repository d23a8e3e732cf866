"""The recipes that come along: each builds from files as its vendor delivers them."""

from __future__ import annotations

import gzip
import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from geolookup.errors import OutputError
from tests.builder.sources.formats import test_dbip as dbip
from tests.builder.sources.formats import test_geofeed as geofeed
from tests.builder.sources.formats import test_ip2location as ip2location
from tests.builder.sources.formats import test_ipinfo as ipinfo
from tests.builder.sources.formats import test_maxmind as maxmind
from tests.builder.sources.formats import test_registries as rir
from tests.builder.sources.formats import test_sapics as iptoasn
from tests.builder.sources.reading.test_inputs import Files
from tests.builder.sources.reading.test_inputs import zipped as packed
from tests.conftest import ROOT
from tests.internals.builder import BuildReport, Options, compile_recipe, loading
from tests.internals.progress import Progress

FOLDER = ROOT / "builder" / "geolookup_builder" / "recipes"
DOCUMENT = (ROOT / "docs" / "data" / "recipe.md").read_text(encoding="utf-8")


def zipped(folder: str, files: Files) -> bytes:
    """An archive as vendors make it: a folder, and the terms beside the data."""
    terms = {"LICENSE.txt": "terms", "COPYRIGHT.txt": "c"}
    return packed({folder + name: content for name, content in {**files, **terms}.items()})


def of_maxmind(product: str, files: Files) -> dict[str, bytes]:
    folder = f"{product}-CSV_20261117"
    named = {f"{product}-{name}": content for name, content in files.items()}
    return {f"{product}-CSV.zip": zipped(f"{folder}/", named)}


def of_dbip(product: str) -> dict[str, bytes]:
    remainder = dbip.LAYOUTS[product][0].replace("Kanton Zürich", "Zurich")
    return {f"dbip-{product}-2026-11.csv.gz": gzip.compress(dbip.rows(remainder).encode())}


def of_blocks(product: str, blocks: str, rows: str) -> dict[str, bytes]:
    return of_maxmind(f"GeoIP2-{product}", {"Blocks-IPv4.csv": maxmind.BLOCKS[blocks] + rows})


def of_ip2location(name: str, text: str) -> dict[str, bytes]:
    return {f"{name}.ZIP": zipped("", {name: text})}


PLACES: Files = {
    "Locations-en.csv": maxmind.EN,
    "Locations-de.csv": maxmind.DE,
    "Blocks-IPv6.csv": maxmind.CITY_V6,
}
CITY: Files = {**PLACES, "Blocks-IPv4.csv": maxmind.CITY}
ASN = ip2location.quoted(["83952640", "83953663", "5.1.4.0/22", "64500", "Example AS"])
_V6 = "2a02:8::,2a02:8:ffff:ffff:ffff:ffff:ffff:ffff"
#: Recipe: files beside it.
DELIVERED: dict[str, Mapping[str, str | bytes]] = {
    "maxmind-geolite2": {
        **of_maxmind("GeoLite2-City", CITY),
        **of_maxmind(
            "GeoLite2-ASN",
            {
                "Blocks-IPv4.csv": maxmind.BLOCKS["asn"] + '8.8.4.0/23,64500,"EXAMPLE, INC."\n',
                "Blocks-IPv6.csv": maxmind.BLOCKS["asn"] + "280:14c::/32,64501,OTHER\n",
            },
        ),
    },
    "maxmind-enterprise": of_maxmind(
        "GeoIP2-Enterprise",
        {
            "Locations-en.csv": maxmind.EN,
            "Blocks-IPv4.csv": maxmind.ENTERPRISE.replace(",999,", ",7,"),
            "ISP.csv": maxmind.PROVIDER,
        },
    ),
    "maxmind-geoip2": {
        **of_maxmind("GeoIP2-City", CITY),
        **of_blocks("ISP", "isp", "8.8.4.0/24,Example Net,Example AG,64502,EXAMPLE-2,,\n"),
        **of_blocks("Connection-Type", "connection", "8.8.4.0/23,Cable/DSL\n"),
    },
    "cities": {
        **of_dbip("city-lite"),
        "origin-asn-ipv4-num.csv": "84213760,84214783,64500,Example AS\n",
        "origin-asn-ipv6.csv": f"{_V6},64503,Other\n",
        **{f"world/{path.name}": path.read_bytes() for path in (FOLDER / "world").iterdir()},
    },
    "dbip-lite": {**of_dbip("city-lite"), **of_dbip("asn-lite")},
    "dbip-location-isp": of_dbip("location-isp"),
    "ip2location-lite": {
        **of_ip2location("IP2LOCATION-LITE-DB11.CSV", ip2location.ipv4(11)),
        **of_ip2location("IP2LOCATION-LITE-DB11.IPV6.CSV", ip2location.ipv6(11)),
        **of_ip2location("IP2LOCATION-LITE-ASN.CSV", ASN),
    },
    "ip2location-db26": {
        "DB26-IPV6.CSV.ZIP": zipped("", {"IPV6-COUNTRY-ASN.CSV": ip2location.ipv6(26)})
    },
    "ipinfo-lite": {"ipinfo_lite.csv.gz": gzip.compress(ipinfo.PRODUCTS["Lite"][0].encode())},
    "public-domain": {
        "geofeeds/one.csv": geofeed.FEED,
        "geofeeds/two.csv": "1.1.4.0/24,JP,JP-13,Tokyo,\n",
        "ip2asn-combined.tsv.gz": gzip.compress((iptoasn.V4 + iptoasn.V6).encode()),
        "delegated-lacnic-extended-latest": rir.EXTENDED,
        "delegated-apnic-extended-latest": rir.PLAIN,
    },
    "world": {
        "user-country-ipv4-num.csv": "84213760,84214783,CH\n16843776,16844031,JP\n",
        "user-country-ipv6.csv": f"{_V6},DE\n",
        "origin-asn-ipv4-num.csv": "84213760,84214783,64500,Example AS\n",
        "origin-asn-ipv6.csv": f"{_V6},64503,Other\n",
        **{f"world/{path.name}": path.read_bytes() for path in (FOLDER / "world").iterdir()},
    },
}
#: What each names to the user, which the licence of its data asks for.
CREDITED = {
    "maxmind-geolite2": "This product includes GeoLite data created by MaxMind, available from "
    "https://www.maxmind.com.",
    "cities": "IP Geolocation by DB-IP",
    "dbip-lite": "IP Geolocation by DB-IP",
    "ip2location-lite": "This site or product includes IP2Location LITE data available from "
    "https://lite.ip2location.com.",
    "ipinfo-lite": "IP address data is powered by IPinfo",
}


def text_of(name: str) -> str:
    return (FOLDER / f"{name}.toml").read_text(encoding="utf-8")


def sources(name: str) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = tomllib.loads(text_of(name))["source"]
    return listed


def delivered(name: str, folder: Path) -> Path:
    """Put the files and a copy of the recipe into a folder; skip what needs an extra."""
    if "[enrich]" in text_of(name):
        for library in ("tzfpy", "pycountry"):
            pytest.importorskip(library, reason="the recipe needs the extra [enrich]")
    for file, content in DELIVERED[name].items():
        path = folder / file
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    recipe = folder / f"{name}.toml"
    recipe.write_text(by_hand(text_of(name)), encoding="utf-8")
    return recipe


def by_hand(text: str) -> str:
    """Change a recipe as its comment says, for files that are not downloaded."""
    address = re.compile(
        r'^path = "https://[^"]*/([^"/?]+)[^"]*"\n(?:file = "([^"]+)"\n)?', re.MULTILINE
    )
    text = address.sub(lambda path_match: f'path = "{path_match[2] or path_match[1]}"\n', text)
    text = text.replace("-{month}.", "-2026-11.")
    text = re.sub(r'^key_\w+ = ".*"\n', "", text, flags=re.MULTILINE)
    return text.replace('date = "last-modified"\n', "")


def compiled(recipe: Path) -> tuple[Path, BuildReport]:
    output = recipe.parent / "dataset"
    return output, compile_recipe(loading.load(recipe), output, Options(), Progress())[0]


def test_every_recipe_is_tested_and_documented() -> None:
    there = {path.stem for path in FOLDER.glob("*.toml")}
    assert there == set(DELIVERED)
    assert {path.name for path in FOLDER.iterdir() if path.suffix != ".toml"} == {"world"}
    links = r"\(\.\./\.\./builder/geolookup_builder/recipes/([\w-]+)\.toml\)"
    assert set(re.findall(links, DOCUMENT)) == there


@pytest.mark.parametrize("name", DELIVERED)
def test_every_source_decides_addresses_and_is_credited(name: str, tmp_path: Path) -> None:
    recipe = delivered(name, tmp_path)
    _dated(name, recipe)
    output, report = compiled(recipe)
    assert len(report.sources) == len(sources(name))
    for source in report.sources:
        assert source.used > 0
        assert (source.rejected, source.nulled, source.note) == ({}, {}, "")
    comment = text_of(name).partition("[dataset]")[0]
    assert "\n# Files:" in comment
    assert "\n# Licence:" in comment
    kept = json.loads((output / "manifest.json").read_bytes())["sources"]
    assert CREDITED.get(name, kept[0]["attribution"]) == kept[0]["attribution"]
    for stated, source in zip(sources(name), kept, strict=True):
        _credited(stated, source)


def _dated(name: str, recipe: Path) -> None:
    """Write the dates that the user is to state: each is a comment of the recipe."""
    commented = re.compile(r'^# (date = "[0-9-]+")', re.MULTILINE)
    text, count = commented.subn(r"\1", recipe.read_text(encoding="utf-8"))
    assert count == sum(map(_by_hand, sources(name)))
    recipe.write_text(text, encoding="utf-8")


def _by_hand(source: dict[str, Any]) -> bool:
    """Downloads are dated by server or month, others by hand; files of the package do not age."""
    remote = source["path"].startswith("https://")
    is_dated = remote and "{month}" not in source["path"]
    assert source.get("date") == ("last-modified" if is_dated else None)
    return not remote and not source["path"].startswith("world/")


def _credited(stated: dict[str, Any], kept: dict[str, Any]) -> None:
    assert (kept["name"], kept["licence"]) == (stated["name"], stated["licence"])
    assert kept["attribution"] == stated["attribution"]
    assert kept.get("url", "https://").startswith("https://")
    assert kept["coverage"]  # no source is idle in this order of precedence
    assert (kept.get("date") or "")[:7] == ("2026-11" if _by_hand(stated) else "")


def test_a_copy_replaces_nothing(tmp_path: Path) -> None:
    for name in ("world.toml", "world"):
        folder = tmp_path / f"{name} there"
        (folder / name).mkdir(parents=True)
        with pytest.raises(OutputError, match="exists already"):
            loading.copy("world", folder)
        assert [path.name for path in folder.iterdir()] == [name]
