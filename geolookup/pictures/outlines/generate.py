"""Make ``natural_earth.npz`` of the npm package world-atlas.

``python -m geolookup.pictures.outlines.generate`` fetches the package by ``npm pack``;
``--package FILE.tgz`` reads it from there. ``--check`` compares instead of writing. It needs the
extra ``reference``: the package numbers countries, pycountry has the codes of the numbers.

Lines and rings are cut at the date line: none may cross a flat map from end to end. A step of
more than 180° goes over the date line. Points are longitudes and latitudes in degrees, (n, 2).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from geolookup.dataset.intervals import F64, I64
from geolookup.pictures.outlines import FILE, STEPS, Lines, Outlines, read, write

PACKAGE = "world-atlas@2.0.2"
_MEMBER = "package/countries-50m.json"
#: Codes of areas that the package gives no number: ISO 3166-1 leaves XK to its users.
_WITHOUT_NUMBER = {"Kosovo": "XK"}


def main() -> None:
    """Write the file, or compare it."""
    parser = argparse.ArgumentParser(description="Make the outlines of Natural Earth.")
    parser.add_argument("--package", type=Path, help=f"the .tgz of {PACKAGE}")
    parser.add_argument("--check", action="store_true", help="compare, do not write")
    arguments = parser.parse_args()
    outlines = generate(arguments.package) if arguments.package else _fetch()
    if not arguments.check:
        write(outlines, FILE)
    elif not same(outlines, read()):
        raise SystemExit(f"{FILE} is not what {PACKAGE} gives")


def same(one: Outlines, other: Outlines) -> bool:
    """Say whether two outlines are equal."""
    equal = (
        np.array_equal(*arrays)
        for arrays in zip((*one.land, *one.borders), (*other.land, *other.borders), strict=True)
    )
    return np.array_equal(one.countries, other.countries) and all(equal)


def _fetch() -> Outlines:
    with tempfile.TemporaryDirectory() as folder:
        command = ["npm", "pack", "--silent", PACKAGE]
        subprocess.run(command, cwd=folder, check=True)  # noqa: S603
        return generate(next(Path(folder).glob("*.tgz")))


def generate(package: Path) -> Outlines:
    """Return the outlines of the TopoJSON in a package."""
    with tarfile.open(package) as archive:
        member = archive.extractfile(_MEMBER)
        assert member is not None  # noqa: S101 - a file, as the package has it
        topology = json.load(member)
    arcs = [_degrees(arc, topology["transform"]) for arc in topology["arcs"]]
    areas = [(code, line) for code, ring in _areas(topology, arcs) for line in _quantise(ring)]
    borders = (part for border in _borders(topology) for part in cut_line(arcs[border]))
    countries = np.array([code for code, _ in areas])
    return Outlines(countries, _lines([line for _, line in areas]), _lines(_quantise(borders)))


def _areas(topology: dict[str, Any], arcs: list[Any]) -> Iterator[tuple[str, Iterator[Any]]]:
    """Yield the code of a country, "" without one, and the parts of each of its rings."""
    for geometry in topology["objects"]["countries"]["geometries"]:
        code = _code(geometry)
        for numbers in _rings(geometry):
            ring = _ring(arcs, numbers)
            if np.ptp(ring[:, 1]):
                yield code, cut_ring(ring)


def _code(geometry: dict[str, Any]) -> str:
    """Return the alpha-2 code of an area."""
    if "id" not in geometry:
        return _WITHOUT_NUMBER.get(geometry["properties"]["name"], "")
    import pycountry  # cutting at the date line does not need it

    country = pycountry.countries.get(numeric=geometry["id"])
    assert country is not None  # noqa: S101 - the package has only ISO numbers
    return str(country.alpha_2)


def _degrees(arc: list[list[int]], transform: dict[str, Any]) -> Any:
    """Return the longitudes and latitudes of an arc, shape (n, 2); TopoJSON has differences."""
    return np.cumsum(arc, axis=0) * transform["scale"] + transform["translate"]


def _rings(geometry: dict[str, Any]) -> Iterator[list[int]]:
    """Yield the rings of polygons, each as numbers of arcs; ~number is an arc reversed."""
    for part in geometry.get("geometries", ()):
        yield from _rings(part)
    if geometry["type"] == "Polygon":
        yield from geometry["arcs"]
    elif geometry["type"] == "MultiPolygon":
        for polygon in geometry["arcs"]:
            yield from polygon


def _ring(arcs: list[Any], ring: list[int]) -> Any:
    """Return a ring of arcs; each begins where the one before ends."""
    parts = [arcs[arc] if arc >= 0 else arcs[~arc][::-1] for arc in ring]
    # The last point of an arc is the first of the next.
    return np.concatenate([part[:-1] for part in parts])


def _borders(topology: dict[str, Any]) -> list[int]:
    """Return the arcs that two countries share: borders. The others are coast."""
    used = Counter(
        arc if arc >= 0 else ~arc
        for ring in _rings(topology["objects"]["countries"])
        for arc in ring
    )
    return sorted(arc for arc, countries in used.items() if countries > 1)


def _quantise(lines: Iterable[Any]) -> Iterator[I64]:
    """Yield lines in steps, without points that repeat the one before, and without dots."""
    for line in lines:
        points = _distinct(np.round(line * STEPS).astype(np.int64))
        if len(points) > 1:
            yield points


def _lines(parts: Iterable[I64]) -> Lines:
    lines = list(parts)
    points = np.concatenate(lines)
    return Lines(np.array([len(line) for line in lines]), points[:, 1], points[:, 0])


def _distinct(points: I64) -> I64:
    moved = np.any(np.diff(points, axis=0) != 0, axis=1)
    distinct: I64 = points[np.append(True, moved)]
    return distinct


def cut_line(points: F64) -> list[F64]:
    """Return the parts of a line on each side."""
    # From 179 to -179 is a step of 358: over the date line.
    over = np.flatnonzero(np.abs(np.diff(points[:, 0])) > 180) + 1
    return np.split(points, over)


def cut_ring(points: F64) -> Iterator[F64]:
    """Yield the rings of the areas on each side; the last point of a ring joins the first.

    A ring around a pole goes along the date line to the pole and back.
    """
    closed = np.vstack([points, points[:1]])
    # 170, -170 becomes 170, 190: steps of less than 180 degrees.
    longitudes = np.unwrap(closed[:, 0], period=360)
    unwrapped = np.column_stack([longitudes, closed[:, 1]])
    # A ring around a pole does not return to its longitude: it ends 360 degrees further.
    if longitudes[0] == longitudes[-1]:
        unwrapped = unwrapped[:-1]
    else:
        pole = np.copysign(90, closed[:, 1].mean())
        unwrapped = np.vstack([unwrapped, [longitudes[-1], pole], [longitudes[0], pole]])
    # The copies to the west and to the east bring both sides into -180 to 180.
    for turn in np.array([[-360, 0], [0, 0], [360, 0]]):
        part = _until(_until(unwrapped + turn, 180, 1), -180, -1)
        if len(part) and np.ptp(part[:, 0]):
            yield part


def _until(ring: F64, limit: float, sign: int) -> F64:
    """Return what of a ring is west of a meridian (sign 1), or east of it (sign -1).

    Source: I. Sutherland, G. Hodgman, Reentrant polygon clipping, Communications of the ACM 17
    (1974).
    """
    points: list[Sequence[float]] = []
    for one, other in zip(ring.tolist(), np.roll(ring, -1, axis=0).tolist(), strict=True):
        inside, next_inside = (sign * (limit - point[0]) >= 0 for point in (one, other))
        if inside:
            points.append(one)
        if inside != next_inside:
            # Where the edge crosses the meridian.
            share = (limit - one[0]) / (other[0] - one[0])
            points.append((limit, one[1] + share * (other[1] - one[1])))
    return np.array(points).reshape(-1, 2)


if __name__ == "__main__":
    main()
