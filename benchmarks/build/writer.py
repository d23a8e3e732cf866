"""The compiler beside the public MMDB writer, on the same rows of City and ASN.

Strategy: each side is a process of its own. The writer's side is a straightforward converter:
the standard CSV reader reads the rows, each is inserted, and rows of one location share one
record.
"""

from __future__ import annotations

import csv
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.build.compiling import compile_once, timed_child
from benchmarks.build.generated import CORES, city_recipe
from benchmarks.data import geolite
from benchmarks.harness import measure
from benchmarks.harness.processes import Result, say
from benchmarks.harness.ratios import Ratio, ratio_table
from benchmarks.harness.tables import Cell, Number, Table

#: The writer takes minutes for all the rows of a city data set.
ROWS = 1_000_000


def measure_writer(rows: int | None) -> Result:
    """Make a dataset and MMDB files of the same rows; both read the CSV."""
    recipe = city_recipe(rows or ROWS)
    ours = compile_once(recipe, CORES)
    with tempfile.TemporaryDirectory(dir=recipe.parent) as folder:
        for path in recipe.parent.glob("*.csv"):
            (Path(folder) / path.name).symlink_to(path)
        theirs = timed_child("benchmarks.build.writer", folder)
        files = [Path(folder) / name for name in ("city.mmdb", "asn.mmdb")]
        theirs["bytes"] = sum(path.stat().st_size for path in files)
    return {"machine": ours["machine"], "ours": ours, "theirs": theirs}


def lines(result: Result) -> Iterator[Table]:
    """Yield both, and the ratios."""
    ours, theirs = result["ours"], result["theirs"]
    header = ["writer", "rows", "seconds", "rows per second"]
    rows = {"geolookup": _figures(ours), "mmdb-writer": _figures(theirs)}
    rate = ours["rows_per_second"] / theirs["rows_per_second"]
    ratios = [Ratio("rows per second of geolookup / mmdb-writer", rate, 20, True, "x")]
    if ours["peak_memory"]:
        header.append("peak memory, MB")
        peak = ours["peak_memory"] / theirs["peak_memory"]
        ratios.append(Ratio("peak memory of geolookup / mmdb-writer", peak, 0.5, unit="x"))
    body: list[list[Cell]] = [[name, *figures] for name, figures in rows.items()]
    yield Table("build-writer", header, body, ours="geolookup")
    yield ratio_table("build-writer-ratios", "writer", ratios)


def _figures(run: Result) -> list[Number]:
    peak = [Number(run["peak_memory"] / 1e6, ",.1f")] if run["peak_memory"] else []
    seconds = Number(run["seconds"], ".2f")
    return [Number(run["rows"]), seconds, Number(run["rows_per_second"]), *peak]


Record = dict[str, Any]
#: Every row as a name of its columns.
Row = dict[str, str]


def rows(folder: Path, names: dict[int, str]) -> Iterator[Row]:
    """Yield the rows of two Blocks files."""
    for family in (4, 6):
        with (folder / names[family]).open(encoding="utf-8", newline="") as stream:
            yield from csv.DictReader(stream)


def write_city(folder: Path, target: Path) -> int:
    """Write the City MMDB of a folder, with English names; returns how many rows it has."""
    with (folder / geolite.LOCATIONS).open(encoding="utf-8", newline="") as stream:
        locations = {row["geoname_id"]: row for row in csv.DictReader(stream)}

    @cache
    def record(geoname_id: str, postal: str, latitude: str, longitude: str) -> Record:
        return _city(locations[geoname_id], postal, latitude, longitude)

    members = ("geoname_id", "postal_code", "latitude", "longitude")
    records = (
        (row["network"], record(*(row[name] for name in members)))
        for row in rows(folder, geolite.CITY)
    )
    return _write(records, target, "City")


def write_asn(folder: Path, target: Path) -> int:
    """Write the ASN MMDB of a folder; returns how many rows it has."""

    @cache
    def record(number: str, holder: str) -> Record:
        return {"autonomous_system_number": int(number), "autonomous_system_organization": holder}

    records = (
        (row["network"], record(*islice(row.values(), 1, 3))) for row in rows(folder, geolite.ASN)
    )
    return _write(records, target, "ASN")


def _write(records: Iterator[tuple[str, Record]], target: Path, name: str) -> int:
    from mmdb_writer import MMDBWriter
    from netaddr import IPSet

    writer = MMDBWriter(
        6,
        f"geolookup-benchmark-{name}",
        languages=["en"],
        description="geolookup benchmark",
        ipv4_compatible=True,
    )
    count = 0
    for network, record in records:
        writer.insert_network(IPSet([network]), record)
        count += 1
    writer.to_db_file(str(target))
    return count


def _city(row: Row, postal: str, latitude: str, longitude: str) -> Record:
    record: Record = {
        "continent": {
            "code": row["continent_code"],
            "names": {"en": row["continent_name"]},
        },
        "country": {
            "iso_code": row["country_iso_code"],
            "names": {"en": row["country_name"]},
        },
        "location": {"latitude": float(latitude), "longitude": float(longitude)},
    }
    if row["time_zone"]:
        record["location"]["time_zone"] = row["time_zone"]
    if row["city_name"]:
        record["city"] = {"names": {"en": row["city_name"]}}
        region = row["subdivision_1_iso_code"], row["subdivision_1_name"]
        record["subdivisions"] = [{"iso_code": region[0], "names": {"en": region[1]}}]
    if postal:
        record["postal"] = {"code": postal}
    return record


def _convert(folder: Path) -> Record:
    with measure.on_cores(2) as pinned:
        began = time.perf_counter()
        count = write_city(folder, folder / "city.mmdb") + write_asn(folder, folder / "asn.mmdb")
        seconds = time.perf_counter() - began
    return {
        "rows": count,
        "seconds": seconds,
        "rows_per_second": count / seconds,
        "peak_memory": measure.peak_memory(),
        "machine": measure.facts(pinned=pinned),
    }


if __name__ == "__main__":
    say(_convert(Path(sys.argv[1])))
