"""The figures of README.md: what the bundled dataset knows, and how right it is."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from ipaddress import IPv4Address
from pathlib import Path

import geolookup
from geolookup.comparison.scoring import Scored
from geolookup.dataset.coverage import known_addresses
from sample_data import make

_SHOWN = (
    ("country", "location.country_code"),
    ("time zone", "time.zone"),
    ("city", "location.city_name"),
    ("AS", "network.asn"),
    ("operator (ISP)", "network.isp"),
    ("kind of user", "network.user_type"),
)
#: Other data, by what they say: a recipe's source of each, relative to DATA.
_OTHERS = (
    ("country", "iptoasn", "sapics", "sapics/iptoasn-country-*.csv.gz"),
    ("country", "registries by way of ip-location-db", "sapics", "sapics/asn-country-*.csv.gz"),
    ("asn", "BGP tables of 2014 (IPv4) and 2015 (IPv6)", "pfx2as", "bgp/ipasn*.dat.gz"),
)
#: Ground truth for the country, relative to DATA, with its format and what it is.
_TRUTHS = (
    ("rir/rir-countries.csv.gz", "csv", "delegations of the registries"),
    ("geofeed/geofeed-valid.csv", "geofeed", "a geofeed of three networks"),
)
_WORST = 5
BEGIN, END = "<!-- figures -->\n", "<!-- end of figures -->\n"
_SEED, _DRAWN = 1, 1000


def figures_text(data: Path) -> str:
    """Return the section between the marks in README.md."""
    scored = [
        (
            name,
            geolookup.score(make.DATASET, data / path, truth_format=kind, worst=_WORST).datasets[0],
        )
        for path, kind, name in _TRUTHS
    ]
    delegations = scored[0][1]
    scores = (_scores(scored), _worst(delegations))
    parts = (_left_out(data), _known(), _drawn(), *scores, _agreement(data))
    return "\n".join(line for part in parts for line in (*part, ""))


def _left_out(data: Path) -> Iterator[str]:
    yield "| left out | parts of rows | IPv4 addresses | IPv6 addresses |"
    yield "|---|---|---|---|"
    counts: dict[str, list[int]] = {"country": [0], "operator and users": [0]}
    for version, suffix in make.VERSIONS.items():
        announced = make.read_rows(make.FOLDER / "world" / f"asn-ipv{version}.csv.zst", version)
        countries = make.read_rows(
            data / "world" / f"geo-whois-asn-country-{suffix}.csv.zst", version
        )
        given = make.given_to_anybody(data, version, announced)
        impossible = list(make.possible(countries, make.complement(given, version)))
        withdrawn = make.reassigned(make.hand_made(version), announced)
        for name, found in (("country", impossible), ("operator and users", withdrawn)):
            counts[name][0] += len(found)
            counts[name].append(make.size(found))
    for name, numbers in counts.items():
        yield f"| {name} | " + " | ".join(f"{number:,}" for number in numbers) + " |"


def _known() -> Iterator[str]:
    """Yield what is known: of the public IPv4 addresses, and of the IPv6 addresses in any row."""
    known = known_addresses(make.DATASET)
    yield "| known | of public IPv4 addresses | of IPv6 addresses of which anything is known |"
    yield "|---|---|---|"
    for name, path in _SHOWN:
        shares = (known[family].share(path) for family in ("ipv4", "ipv6"))
        yield f"| {name} | " + " | ".join(f"{share:.2%}" for share in shares) + " |"


def _drawn() -> Iterator[str]:
    generator, known, drawn = random.Random(_SEED), [0, 0], 0  # noqa: S311 - not for secrets
    with geolookup.open(make.DATASET) as engine:
        while drawn < _DRAWN:
            address = IPv4Address(generator.getrandbits(32))
            if answer := engine.lookup(address)["data"]:
                drawn += 1
                known[0] += answer["location"]["country_code"] is not None
                known[1] += "asn" in answer["network"]
    yield (
        f"Of {_DRAWN:,} random public IPv4 addresses, {known[0]} have a country"
        f" and {known[1]} an AS."
    )


def _scores(scored: list[tuple[str, Scored]]) -> Iterator[str]:
    """Yield what ``geolookup score`` says of the country."""
    yield "| country, against | in | right | wrong | unknown |"
    yield "|---|---|---|---|---|"
    for name, found in scored:
        for part in found.parts.values():
            country = part.score.country
            shares = (each.share for each in (country.agree, country.wrong, country.null))
            if part.score.of:
                shown = " | ".join(f"{each:.2%}" for each in shares)
                yield f"| {name} | {part.score.of:,.0f} {part.unit} | {shown} |"


def _worst(delegations: Scored) -> Iterator[str]:
    """Yield the largest networks whose country differs from that of the delegation."""
    yield "| differs most | addresses | delegated to | here |"
    yield "|---|---|---|---|"
    for each in delegations.parts["ipv4"].worst["country"]:
        yield f"| {each.network} | {each.wrong.count:,.0f} | {each.truth} | {each.dataset} |"


def _agreement(data: Path) -> Iterator[str]:
    """Yield the share of addresses that have the same value here and in other data."""
    yield "| agrees with | on | IPv4 | IPv6 |"
    yield "|---|---|---|---|"
    for level, name, kind, path in _OTHERS:
        recipe = (
            f"[dataset]\nname = 'other'\n[[source]]\nformat = '{kind}'\npath = '{data / path}'\n"
        )
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "recipe.toml")
            file.write_text(recipe, encoding="utf-8")
            geolookup.build(file, Path(folder, "other"))
            parts = geolookup.diff(Path(folder, "other"), make.DATASET).parts
        moved = (parts[family].moved[level].share for family in ("ipv4", "ipv6"))
        said = "AS" if level == "asn" else level
        yield f"| {name} | {said} | " + " | ".join(f"{1 - each:.2%}" for each in moved) + " |"
