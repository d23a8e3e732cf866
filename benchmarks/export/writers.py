"""The writers of MMDB files: each writes a dataset's cities in a process of its own."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import geolookup
from benchmarks.data import mmdb
from benchmarks.harness import measure
from benchmarks.harness.processes import Result, say

#: What ``benchmarks.data.mmdb`` writes of a dataset.
_MEMBERS = (
    *("continent_code", "continent_name", "country_code", "country_name", "region_code"),
    *("region_name", "city_name", "postal_code", "latitude", "longitude"),
)
FIELDS = (*(f"location.{name}" for name in _MEMBERS), "time.zone")


def _export(dataset: Path, target: Path) -> None:
    with geolookup.open(dataset) as engine:
        engine.export(target, "mmdb", schema="city", fields=FIELDS)


OURS, THEIRS = "geolookup", "mmdb-writer"
WRITERS: dict[str, Callable[[Path, Path], None]] = {OURS: _export, THEIRS: mmdb.write}


def _write(name: str, dataset: Path, target: Path) -> Result:
    with measure.one_core() as pinned:
        began = time.process_time()
        WRITERS[name](dataset, target)
        seconds = time.process_time() - began
    return {
        "seconds": seconds,
        "peak_memory": measure.peak_memory(),
        "bytes": target.stat().st_size,
        "machine": measure.facts(pinned=pinned),
    }


if __name__ == "__main__":
    say(_write(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])))
