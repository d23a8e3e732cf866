"""The outlines: cut at the date line, as large as the land of the Earth, small as a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from geolookup.pictures import outlines
from geolookup.pictures.outlines.date_line import cut_line, cut_ring
from geolookup.pictures.projection import project

_RADIUS_KM = 6371.0072


def _area(longitudes: np.ndarray, latitudes: np.ndarray) -> float:
    """The signed area of a ring in km²: in the plane of an equal-area projection."""
    x, y = project(latitudes, longitudes)
    return float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y)) / 2 * _RADIUS_KM**2


def _rings(lines: outlines.Lines) -> list[tuple[np.ndarray, np.ndarray]]:
    latitudes, longitudes = lines.degrees()
    ends = np.cumsum(lines.lengths)[:-1]
    return list(zip(np.split(longitudes, ends), np.split(latitudes, ends), strict=True))


def test_the_file_is_small() -> None:
    assert outlines.FILE.stat().st_size < 250_000


def test_the_land_is_that_of_the_earth() -> None:
    area = sum(_area(*ring) for ring in _rings(outlines.read()["land"]))
    assert abs(area) == pytest.approx(148.9e6, rel=0.02)  # with the ice of Antarctica


@pytest.mark.parametrize("part", ["borders", "land"])
def test_no_line_crosses_the_map(part: str) -> None:
    for longitudes, latitudes in _rings(outlines.read()[part]):
        assert (np.abs(longitudes) <= 180).all()
        far = np.abs(np.diff(longitudes)) > 180
        assert (latitudes[:-1][far] == -90).all()  # along the south pole


def test_a_ring_over_the_date_line_is_two_rings() -> None:
    ring = np.array([(170, 10), (-170, 10), (-170, -10), (170, -10)], float)
    west, east = sorted((part.tolist() for part in cut_ring(ring)), key=min)
    assert sorted(west) == [[-180, -10], [-180, 10], [-170, -10], [-170, 10]]
    assert sorted(east) == [[170, -10], [170, 10], [180, -10], [180, 10]]


def test_a_ring_around_a_pole_goes_to_the_pole() -> None:
    ring = np.array([(-120, -70), (0, -70), (120, -70)], float)
    areas = [_area(*part.T) for part in cut_ring(np.array(ring))]
    assert sum(areas) != 0
    corners = {tuple(point) for part in cut_ring(ring) for point in part.tolist()}
    assert {(-180.0, -90.0), (180.0, -90.0), (0.0, -70.0)} <= corners


def test_a_ring_elsewhere_stays() -> None:
    ring = np.array([(0, 0), (10, 0), (10, 10)], float)
    (found,) = cut_ring(ring)
    assert np.array_equal(found, ring)


def test_a_line_over_the_date_line_is_two_lines() -> None:
    line = np.array([(170, 1), (179, 2), (-179, 3), (-170, 4)], float)
    assert [part.tolist() for part in cut_line(line)] == [line[:2].tolist(), line[2:].tolist()]


def test_what_is_written_is_read(tmp_path: Path) -> None:
    written = outlines.read()
    outlines.write(written, tmp_path / "again.npz")
    assert (tmp_path / "again.npz").read_bytes() == outlines.FILE.read_bytes()
