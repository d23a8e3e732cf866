"""The bytes of a dataset beside the bytes of the MMDB files with the same content.

The same content: a City MMDB with the English names, postal code, coordinates
and time zone of every location, and an ASN MMDB, both of the ranges in the
dataset, neighbours of one record put together. The dataset besides knows the
country facts, and which source decided what; the MMDB files do not.
"""

from __future__ import annotations

import json
import tarfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.build.generated import city_recipe
from benchmarks.data import cache
from benchmarks.harness import measure
from benchmarks.harness.processes import Result
from benchmarks.harness.ratios import Ratio, ratio_table
from benchmarks.harness.tables import Number, Table
from geolookup.archives.pack import pack
from geolookup.dataset import layout as fmt

_LEAST = 100_000  # bytes of a column that is told


def measure_size(rows: int | None) -> Result:
    """Measure files, columns and archives."""
    recipe = city_recipe(rows)
    dataset = cache.built_dataset(recipe)
    files = {content: cache.mmdb_of(dataset, content) for content in ("city", "asn")}
    descriptions = json.loads((dataset / fmt.MANIFEST).read_bytes())["files"]
    return {
        "machine": measure.facts(pinned=False),
        "columns": _columns(descriptions),
        "files": {name: content["bytes"] for name, content in descriptions.items()},
        "dataset": sum(path.stat().st_size for path in dataset.iterdir()),
        "mmdb": {name: path.stat().st_size for name, path in files.items()},
        "packed": pack(dataset, dataset.parent / "packed.tar.zst", force=True),
        "tar_gz": _tar_gz(list(files.values()), dataset.parent / "mmdb.tar.gz"),
    }


def _columns(files: Result) -> dict[str, int]:
    return {
        f"{name} {column}": _buffers(column_description)
        for name, file in files.items()
        for column, column_description in file["columns"].items()
    }


def _buffers(column: Result) -> int:
    inner = _buffers(column["dictionary"]) if "dictionary" in column else 0
    return inner + sum(int(buffer[1]) for buffer in column["buffers"] if buffer)


def _tar_gz(paths: list[Path], target: Path) -> int:
    with tarfile.open(target, "w:gz", compresslevel=9) as archive:
        for path in paths:
            archive.add(path, path.name)
    return target.stat().st_size


def lines(result: Result) -> Iterator[Table]:
    """Yield the bytes of files and columns, of their MMDB counterparts, and the ratios."""
    rows = []
    for file, size in sorted(result["files"].items()):
        rows.append((file, Number(size)))
        for column, column_bytes in result["columns"].items():
            if column.startswith(f"{file} ") and column_bytes >= _LEAST:
                rows.append((f"{file}: {column.partition(' ')[2]}", Number(column_bytes)))
    yield Table("build-size-files", ("files and columns", "bytes"), rows)
    sizes = {
        "dataset": result["dataset"],
        **{f"{name} MMDB": size for name, size in result["mmdb"].items()},
        "packed": result["packed"],
        "MMDB .tar.gz": result["tar_gz"],
    }
    body = [(name, Number(size)) for name, size in sizes.items()]
    yield Table("build-size", ("size", "bytes"), body, ours=("dataset", "packed"))
    plain = result["dataset"] / sum(result["mmdb"].values())
    archive = result["packed"] / result["tar_gz"]
    ratios = [
        Ratio("dataset / MMDB", plain, 1.5, unit="x"),
        Ratio("packed / MMDB .tar.gz", archive, 1, unit="x"),
    ]
    yield ratio_table("build-size-ratios", "size", ratios)
