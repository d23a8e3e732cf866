"""Makes the files of this folder, and the bundled dataset that is compiled from them.

    python -m sample_data.make sources DATA    the publisher's files, filtered; DATA: see README.md
    python -m sample_data.make dataset         geolookup/world, and the rows that recipes ship
    python -m sample_data.make geolite OUTPUT  GeoLite2, from the package geoip2fast, to compare
    python -m sample_data.make figures DATA    the figures of README.md

``sources`` applies three rules. A country is left out where no registry has delegated the
addresses and no AS announces them: nobody was given them. The delegation decides where whois
states the seat of the registry (``seats``). A row of networks.csv is withdrawn where the AS of
another organisation announces its addresses today.
"""

from __future__ import annotations

import csv
import gzip
import io
import shutil
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path

import click
import pyarrow as pa

from sample_data.ranges import Range, Row, address_value, ends, most_specific, parts_inside, union
from sample_data.seats import without_seats

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parent
DATASET = ROOT / "geolookup" / "world"
#: The rows that packaged recipes ship; the same files as here.
PACKAGED = ROOT / "builder" / "geolookup_builder" / "recipes" / "world"
ROWS = ("places.csv", "networks.csv", "networks_reassigned.csv.zst")
LEVEL = 19  # of zstandard
#: The families, and how the publisher names their files.
VERSIONS = {4: "ipv4-num", 6: "ipv6"}

# --- files


def read_rows(path: Path, version: int) -> list[Row]:
    """Read a file of ip-location-db: IPv4 as integers, IPv6 as text."""
    value = int if version == 4 else address_value
    cells = csv.reader(io.StringIO(text_of(path)))
    return [Row(value(a), value(b), tuple(remainder)) for a, b, *remainder in cells]


def text_of(path: Path) -> str:
    """Return the text of a compressed file."""
    with pa.OSFile(str(path)) as file, pa.CompressedInputStream(file, "zstd") as stream:
        return str(stream.read().decode())


def write_rows(path: Path, version: int, rows: Iterable[Row]) -> None:
    """Write rows as the publisher does."""
    show = str if version == 4 else (lambda number: str(IPv6Address(number)))
    write(path, ((show(row.first), show(row.last), *row.cells) for row in rows))


def write(path: Path, rows: Iterable[tuple[str, ...]]) -> None:
    """Write a CSV, compressed."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    codec = pa.Codec("zstd", compression_level=LEVEL)
    path.write_bytes(codec.compress(text.getvalue().encode(), asbytes=True))


def delegations(data: Path, version: int) -> list[Row]:
    """Return what the registries have delegated, with the country; sorted and disjoint."""
    with gzip.open(data / "rir" / "rir-countries.csv.gz", "rt", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return sorted(
        (
            Row(*ends(row["network"]), (row["country_code"],))
            for row in rows
            if (":" in row["network"]) == (version == 6)
        ),
        key=lambda row: row.first,
    )


def given_to_anybody(delegated: Iterable[Row], announced: Iterable[Row]) -> list[Range]:
    """Return what a registry has delegated or an AS announces."""
    return union((row.first, row.last) for rows in (delegated, announced) for row in rows)


# --- the rules


def possible(rows: Iterable[Row], given: Sequence[Range]) -> Iterator[Row]:
    """Yield the parts of rows whose addresses somebody was given."""
    for row in rows:
        for first, last in parts_inside(row.first, row.last, given):
            yield Row(first, last, row.cells)


def reassigned(hand_made: Sequence[Row], announced: Sequence[Row]) -> list[Range]:
    """Return the addresses of hand-made rows that another organisation announces.

    The cells of both are AS number and organisation. Of nested hand-made rows the most
    specific one counts. Two ASes of one organisation are no contradiction.
    """
    organisations = {row.cells[0]: row.cells[1] for row in announced}
    starts = [row.first for row in announced]
    actual = []
    for piece in most_specific(hand_made):
        number = piece.cells[0]
        at = max(0, bisect_right(starts, piece.first) - 1)
        while number and at < len(announced) and announced[at].first <= piece.last:
            other = announced[at]
            if other.cells[0] != number and other.cells[1] != organisations.get(number):
                low, high = max(piece.first, other.first), min(piece.last, other.last)
                actual += [(low, high)] if low <= high else []
            at += 1
    return union(actual)


def hand_made(version: int) -> list[Row]:
    """Read networks.csv."""
    with (FOLDER / "networks.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [
        Row(*ends(row["network"]), (row["asn"], row["asn_organization"]))
        for row in rows
        if (":" in row["network"]) == (version == 6)
    ]


# --- commands

main = click.Group(help="Make the files of sample_data and the bundled dataset.")
_data = click.argument("data", type=click.Path(exists=True, file_okay=False, path_type=Path))


@main.command()
@_data
def sources(data: Path) -> None:
    """Filter the publisher's files in DATA/world by the delegations in DATA/rir."""
    make_sources(data, FOLDER)


def make_sources(data: Path, folder: Path) -> None:
    """Write the files that ``sources`` makes into a folder."""
    withdrawn: list[tuple[str, ...]] = [("first", "last", "isp")]
    for version, suffix in VERSIONS.items():
        announced = read_rows(data / "world" / f"asn-{suffix}.csv.zst", version)
        countries = read_rows(data / "world" / f"geo-whois-asn-country-{suffix}.csv.zst", version)
        write_rows(folder / "world" / f"asn-ipv{version}.csv.zst", version, announced)
        delegated = delegations(data, version)
        kept = possible(countries, given_to_anybody(delegated, announced))
        located = without_seats(kept, delegated, version)
        write_rows(folder / "world" / f"country-ipv{version}.csv.zst", version, located)
        withdrawn += _texts(version, reassigned(hand_made(version), announced))
    write(folder / "networks_reassigned.csv.zst", withdrawn)


def _texts(version: int, ranges: Iterable[Range]) -> Iterator[tuple[str, str, str]]:
    """Yield rows without a value: a more specific row decides, even where it is empty."""
    address = IPv4Address if version == 4 else IPv6Address
    for first, last in ranges:
        yield str(address(first)), str(address(last)), ""


@main.command()
def dataset() -> None:
    """Compile the bundled dataset."""
    from geolookup_builder.compile import compile_recipe
    from geolookup_builder.limits import Options
    from geolookup_builder.recipe.loading import load

    from geolookup.progress import Progress

    recipe = load(FOLDER / "recipe.toml")
    report, _ = compile_recipe(recipe, DATASET, Options(force=True), Progress())
    click.echo("\n".join(report.lines()))
    PACKAGED.mkdir(exist_ok=True)
    for name in ROWS:
        shutil.copyfile(FOLDER / name, PACKAGED / name)


@main.command()
@click.argument("output", type=click.Path(dir_okay=False, path_type=Path))
def geolite(output: Path) -> None:
    """Write the countries of GeoLite2 to OUTPUT; needs the package geoip2fast."""
    from sample_data.geolite import write_ranges

    write_ranges(output)


@main.command()
@_data
def figures(data: Path) -> None:
    """Write the figures of README.md, from the bundled dataset and what DATA has."""
    from sample_data.figures import BEGIN, END, figures_text

    readme = FOLDER / "README.md"
    before, remainder = readme.read_text(encoding="utf-8").split(BEGIN)
    text = f"{before}{BEGIN}{figures_text(data)}{END}{remainder.split(END)[1]}"
    readme.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
