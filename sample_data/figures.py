"""The figures of README.md: what the bundled dataset knows, and how right it is."""

from __future__ import annotations

import csv
import random
import tempfile
from collections.abc import Iterator, Sequence
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path

import geolookup
from geolookup.comparison.score import DatasetScore
from geolookup.dataset.coverage import known_addresses
from sample_data import geolite, make, ranges, seats

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
_TRUTHS = (("rir/rir-countries.csv.gz", "csv", "delegations of the registries"),)
_GEOLITE = "GeoLite2 Country, 2024-06-18"
_RULES = ("country left out", "country of the delegation", "operator and users left out")
BEGIN, END = "<!-- figures -->\n", "<!-- end of figures -->\n"
_SEED, _DRAWN = 1, 1000


def figures_text(data: Path) -> str:
    """Return the section between the marks in README.md."""
    with tempfile.TemporaryDirectory() as folder:
        other = Path(folder, "geolite.csv")
        geolite.write_ranges(other)
        scored = [(name, _score(data / path, kind)) for path, kind, name in _TRUTHS]
        scored.append((_GEOLITE, _score(other, "csv")))
        changed = tuple(_changed(data, Path(folder), other))
    parts = (
        _answer(scored[-1][1]),
        _scores(scored),
        _known(),
        _drawn(),
        changed,
        _agreement(data),
    )
    return "\n".join(line for part in parts for line in (*part, ""))


def _answer(geolite_score: DatasetScore) -> Iterator[str]:
    """Yield how right the country is, in one sentence."""
    shares = [
        [f"{item.share:.1%}" for item in (country.agree, country.wrong, country.missing)]
        for country in (part.levels["country"] for part in geolite_score.parts.values())
    ]
    (same, differs, unknown), others = shares
    yield (
        f"On {same} of the IPv4 addresses the country equals that of {_GEOLITE}; on {differs} it"
        f" differs, and on {unknown} it is unknown. Of the IPv6 networks of /64, these are"
        f" {', '.join(others[:2])} and {others[2]}."
    )


def _score(truth: Path, kind: str, dataset: Path = make.DATASET) -> DatasetScore:
    return geolookup.score(dataset, truth=truth, truth_format=kind).datasets[0]


def _changed(data: Path, folder: Path, other: Path) -> Iterator[str]:
    """Yield what each rule changes, and how often GeoLite2 agrees where the second one does."""
    yield "| changed | rows, or parts of them | IPv4 addresses | IPv6 /64 networks |"
    yield "|---|---|---|---|"
    counts: dict[str, list[int]] = {name: [0] for name in _RULES}
    moved: list[tuple[str, str, str]] = []
    for version, suffix in make.VERSIONS.items():
        announced = make.read_rows(make.FOLDER / "world" / f"asn-ipv{version}.csv.zst", version)
        countries = make.read_rows(
            data / "world" / f"geo-whois-asn-country-{suffix}.csv.zst", version
        )
        delegated = make.delegations(data, version)
        inputs = make.given_to_anybody(delegated, announced)
        impossible = list(make.possible(countries, ranges.complement(inputs, version)))
        withdrawn = make.reassigned(make.hand_made(version), announced)
        instead = list(seats.seats(make.possible(countries, inputs), delegated, version))
        parts: tuple[Sequence[ranges.Range | ranges.Row], ...] = (impossible, instead, withdrawn)
        for name, rows in zip(_RULES, parts, strict=True):
            counts[name][0] += len(rows)
            counts[name].append(ranges.size(rows) >> (64 if version == 6 else 0))
        moved += _texts(version, instead)
    for name, numbers in counts.items():
        yield f"| {name} | " + " | ".join(f"{number:,}" for number in numbers) + " |"
    yield ""
    shares = _agreeing(folder, moved, other)
    yield (
        f"Where the second rule changes the country, {_GEOLITE} agrees with the delegation on"
        f" {shares[0]:.2%} of the IPv4 addresses and {shares[1]:.2%} of the /64 networks."
    )


def _texts(version: int, rows: Sequence[ranges.Row]) -> Iterator[tuple[str, str, str]]:
    address = IPv4Address if version == 4 else IPv6Address
    for row in rows:
        yield str(address(row.first)), str(address(row.last)), row.cells[0]


def _agreeing(folder: Path, rows: Sequence[tuple[str, ...]], other: Path) -> list[float]:
    """Return by family the share of the addresses in rows whose country is that of ``other``."""
    path = folder / "rows.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("first", "last", "country_code"), *rows])
    geolookup.build(path, folder / "rows")
    parts = _score(other, "csv", folder / "rows").parts
    countries = [parts[family].levels["country"] for family in ("ipv4", "ipv6")]
    return [
        country.agree.count / (country.agree.count + country.wrong.count) for country in countries
    ]


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


def _scores(scored: Sequence[tuple[str, DatasetScore]]) -> Iterator[str]:
    """Yield what ``geolookup score`` says of the country."""
    yield "| country, against | in | agrees | differs | unknown |"
    yield "|---|---|---|---|---|"
    for name, dataset in scored:
        for part in dataset.parts.values():
            country = part.levels["country"]
            shares = (item.share for item in (country.agree, country.wrong, country.missing))
            if part.of:
                shown = " | ".join(f"{share:.2%}" for share in shares)
                yield f"| {name} | {part.of:,} {part.unit} | {shown} |"


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
        yield f"| {name} | {said} | " + " | ".join(f"{1 - entry:.2%}" for entry in moved) + " |"
