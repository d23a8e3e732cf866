"""The bytes of a dataset beside those of the MMDB files with the same content.

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


def measured(rows: int | None) -> Result:
    """Measure files, columns and archives."""
    recipe = city_recipe(rows)
    dataset = cache.built(recipe)
    files = {each: cache.mmdb_of(dataset, each) for each in ("city", "asn")}
    described = json.loads((dataset / fmt.MANIFEST).read_bytes())["files"]
    return {
        "machine": measure.facts(pinned=False),
        "columns": _columns(described),
        "files": {name: each["bytes"] for name, each in described.items()},
        "dataset": sum(path.stat().st_size for path in dataset.iterdir()),
        "mmdb": {name: path.stat().st_size for name, path in files.items()},
        "packed": pack(dataset, dataset.parent / "packed.tar.zst", force=True),
        "tar_gz": _tar_gz(list(files.values()), dataset.parent / "mmdb.tar.gz"),
    }


def _columns(files: Result) -> dict[str, int]:
    return {
        f"{name} {column}": _buffers(described)
        for name, file in files.items()
        for column, described in file["columns"].items()
    }


def _buffers(described: Result) -> int:
    inner = _buffers(described["dictionary"]) if "dictionary" in described else 0
    return inner + sum(int(buffer[1]) for buffer in described["buffers"] if buffer)


def _tar_gz(paths: list[Path], target: Path) -> int:
    with tarfile.open(target, "w:gz", compresslevel=9) as archive:
        for path in paths:
            archive.add(path, path.name)
    return target.stat().st_size


def told(result: Result) -> Iterator[Table]:
    """Yield the bytes of files and columns, of what they are compared with, and the ratios."""
    rows = []
    for file, size in sorted(result["files"].items()):
        rows.append((file, Number(size)))
        for column, part in result["columns"].items():
            if column.startswith(f"{file} ") and part >= _LEAST:
                rows.append((f"{file}: {column.partition(' ')[2]}", Number(part)))
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
    packed = result["packed"] / result["tar_gz"]
    ratios = [
        Ratio("dataset / MMDB", plain, 1.5, unit="x"),
        Ratio("packed / MMDB .tar.gz", packed, 1, unit="x"),
    ]
    yield ratio_table("build-size-ratios", "size", ratios)
