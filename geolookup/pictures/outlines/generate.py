"""Make ``natural_earth.npz`` of the npm package world-atlas.

``python -m geolookup.pictures.outlines.generate`` fetches the package by ``npm pack``;
``--package FILE.tgz`` takes it from there. ``--check`` compares instead of writing.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from geolookup.dataset.intervals import I64
from geolookup.pictures.outlines import FILE, STEPS, Lines, read, write
from geolookup.pictures.outlines.date_line import cut_line, cut_ring

PACKAGE = "world-atlas@2.0.2"
_MEMBER = "package/countries-50m.json"


def main() -> None:
    """Write the file, or compare it."""
    parser = argparse.ArgumentParser(description="Make the outlines of Natural Earth.")
    parser.add_argument("--package", type=Path, help=f"the .tgz of {PACKAGE}")
    parser.add_argument("--check", action="store_true", help="compare, do not write")
    chosen = parser.parse_args()
    parts = generate(chosen.package) if chosen.package else _fetched()
    if not chosen.check:
        write(parts, FILE)
    elif not same(parts, read()):
        raise SystemExit(f"{FILE} is not what {PACKAGE} gives")


def same(one: Mapping[str, Lines], other: Mapping[str, Lines]) -> bool:
    """Say whether two files have the same lines."""
    return all(
        np.array_equal(*arrays)
        for part in one.keys() | other.keys()
        for arrays in zip(one[part], other[part], strict=True)
    )


def _fetched() -> dict[str, Lines]:
    with tempfile.TemporaryDirectory() as folder:
        command = ["npm", "pack", "--silent", PACKAGE]
        subprocess.run(command, cwd=folder, check=True)  # noqa: S603
        return generate(next(Path(folder).glob("*.tgz")))


def generate(package: Path) -> dict[str, Lines]:
    """Return the lines of the TopoJSON in a package."""
    with tarfile.open(package) as archive:
        member = archive.extractfile(_MEMBER)
        assert member is not None  # noqa: S101 - a file, as the package has it
        topology = json.load(member)
    arcs = [_degrees(arc, topology["transform"]) for arc in topology["arcs"]]
    rings = (_ring(arcs, ring) for ring in _rings(topology["objects"]["land"]))
    land = (part for ring in rings if np.ptp(ring[:, 1]) for part in cut_ring(ring))
    borders = (part for each in _borders(topology) for part in cut_line(arcs[each]))
    return {"land": _quantised(land), "borders": _quantised(borders)}


def _degrees(arc: list[list[int]], transform: dict[str, Any]) -> Any:
    """Return the longitudes and latitudes of an arc, shape (n, 2); TopoJSON has differences."""
    return np.cumsum(arc, axis=0) * transform["scale"] + transform["translate"]


def _rings(geometry: dict[str, Any]) -> Iterator[list[int]]:
    """Yield the rings of polygons, each as numbers of arcs; ~number is an arc reversed."""
    for each in geometry.get("geometries", ()):
        yield from _rings(each)
    if geometry["type"] == "Polygon":
        yield from geometry["arcs"]
    elif geometry["type"] == "MultiPolygon":
        for polygon in geometry["arcs"]:
            yield from polygon


def _ring(arcs: list[Any], ring: list[int]) -> Any:
    """Return a ring of arcs; each begins where the one before ends."""
    parts = [arcs[each] if each >= 0 else arcs[~each][::-1] for each in ring]
    return np.concatenate([part[:-1] for part in parts])


def _borders(topology: dict[str, Any]) -> list[int]:
    """Return the arcs that two countries share, which are borders; the others are coast."""
    used = Counter(
        each if each >= 0 else ~each
        for ring in _rings(topology["objects"]["countries"])
        for each in ring
    )
    return sorted(arc for arc, countries in used.items() if countries > 1)


def _quantised(lines: Iterable[Any]) -> Lines:
    """Return lines in steps, without points that repeat the one before, and without dots."""
    rounded = [_distinct(np.round(line * STEPS).astype(np.int64)) for line in lines]
    kept = [line for line in rounded if len(line) > 1]
    lengths = np.array([len(line) for line in kept])
    points = np.concatenate(kept)
    return Lines(lengths, points[:, 1], points[:, 0])


def _distinct(points: I64) -> I64:
    moved = np.any(np.diff(points, axis=0) != 0, axis=1)
    kept: I64 = points[np.append(True, moved)]
    return kept


if __name__ == "__main__":
    main()
