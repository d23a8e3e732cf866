"""The outlines: of countries, cut at the date line, as large as the Earth's land, a small file."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from geolookup_builder.reference.countries import load_countries

from geolookup.pictures import outlines
from geolookup.pictures.globe import project
from geolookup.pictures.outlines.generate import cut_line, cut_ring

_RADIUS_KM = 6371.0072


def _area(longitudes: np.ndarray, latitudes: np.ndarray) -> float:
    """The signed area of a ring in km²: in the plane of an equal-area projection."""
    x, y = project(latitudes, longitudes)
    return float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y)) / 2 * _RADIUS_KM**2


def _rings(lines: outlines.Lines) -> list[tuple[np.ndarray, np.ndarray]]:
    latitudes, longitudes = lines.degrees()
    ends = np.cumsum(lines.lengths)[:-1]
    return list(zip(np.split(longitudes, ends), np.split(latitudes, ends), strict=True))


def test_the_land_is_that_of_the_earth() -> None:
    assert outlines.FILE.stat().st_size < 200_000
    area = sum(_area(*ring) for ring in _rings(outlines.read().land))
    assert abs(area) == pytest.approx(148.9e6, rel=0.02)  # with the ice of Antarctica


_CAPITALS = [
    *(("DE", 52.52, 13.40), ("BR", -15.79, -47.88), ("JP", 35.68, 139.75), ("LS", -29.31, 27.48)),
    *(("ZA", -25.75, 28.19), ("FR", 48.86, 2.35), ("US", 38.90, -77.04), ("IN", 28.61, 77.21)),
    *(("AU", -35.28, 149.13), ("XK", 42.66, 21.17), ("RU", 55.75, 37.62), ("EG", 30.04, 31.24)),
]


def _inside(ring: tuple[np.ndarray, np.ndarray], latitude: float, longitude: float) -> bool:
    """Say whether a ray to the east crosses the ring an odd number of times."""
    x, y = ring
    next_x, next_y = np.roll(x, -1), np.roll(y, -1)
    over = (y > latitude) != (next_y > latitude)
    share = (latitude - y[over]) / (next_y - y)[over]
    return bool(np.sum(x[over] + share * (next_x - x)[over] > longitude) % 2)


def test_a_capital_lies_in_its_country() -> None:
    drawn = outlines.read()
    rings = list(zip(drawn.countries.tolist(), _rings(drawn.land), strict=True))
    for code, latitude, longitude in _CAPITALS:
        crossed = Counter(of for of, ring in rings if _inside(ring, latitude, longitude))
        assert [of for of, crossings in crossed.items() if crossings % 2] == [code]


def test_nearly_every_country_has_an_area() -> None:
    result = set(outlines.read().countries.tolist())
    assert len(result) >= 170
    codes = set(load_countries())
    assert result - {""} <= codes
    # Most of them are parts of another country on this map; the others are too small.
    assert " ".join(sorted(codes - result)) == "BQ BV CC CX GF GI GP MQ RE SJ TK TV UM YT"


def test_no_line_crosses_the_map() -> None:
    drawn = outlines.read()
    for longitudes, latitudes in [*_rings(drawn.borders), *_rings(drawn.land)]:
        assert (np.abs(longitudes) <= 180).all()
        far = np.abs(np.diff(longitudes)) > 180
        assert (latitudes[:-1][far] == -90).all()  # along the south pole


def test_what_crosses_the_date_line_is_cut_there() -> None:
    ring = np.array([(170, 10), (-170, 10), (-170, -10), (170, -10)], float)
    west, east = sorted((part.tolist() for part in cut_ring(ring)), key=min)
    assert sorted(west) == [[-180, -10], [-180, 10], [-170, -10], [-170, 10]]
    assert sorted(east) == [[170, -10], [170, 10], [180, -10], [180, 10]]
    line = np.array([(170, 1), (179, 2), (-179, 3), (-170, 4)], float)
    assert [part.tolist() for part in cut_line(line)] == [line[:2].tolist(), line[2:].tolist()]
    elsewhere = np.array([(0, 0), (10, 0), (10, 10)], float)
    assert np.array_equal([*cut_ring(elsewhere)], [elsewhere])


def test_a_ring_around_a_pole_goes_to_the_pole() -> None:
    ring = np.array([(-120, -70), (0, -70), (120, -70)], float)
    areas = [_area(*part.T) for part in cut_ring(np.array(ring))]
    assert sum(areas) != 0
    corners = {tuple(point) for part in cut_ring(ring) for point in part.tolist()}
    assert {(-180.0, -90.0), (180.0, -90.0), (0.0, -70.0)} <= corners


def test_what_is_written_is_read(tmp_path: Path) -> None:
    outlines.write(outlines.read(), tmp_path / "again.npz")
    with np.load(tmp_path / "again.npz") as again, np.load(outlines.FILE) as stored:
        assert again.files == stored.files
        for name in stored.files:
            assert again[name].dtype == stored[name].dtype
            assert np.array_equal(again[name], stored[name]), name
