"""Pictures of the world: densities by cell and by country, with outlines and a legend."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from geolookup.dataset.intervals import F64, I64
from geolookup.pictures import wording
from geolookup.pictures.densities import CountryLayer, DefaultCoordinates, Layer, World, sums_by
from geolookup.pictures.picture_files import Picture
from geolookup.pictures.world_frame import (
    SCALE,
    colours_of,
    frame,
    land,
    legend,
    lines,
    pixels,
    rings,
)

#: Of the rings at default coordinates: unlike all of the scale.
_RING = "#c2185b"
#: In px: the least side of a square.
_SQUARE = 4
#: The radius of the sphere that has the area of WGS 84.
_RADIUS_KM = 6371.0072


def pictures(
    anchor: str, world: World, defaults: Sequence[DefaultCoordinates] = ()
) -> Iterator[Picture]:
    """Yield a picture of each density, named ANCHOR-DENSITY, with rings at default coordinates."""
    for layer in world.layers:
        if layer.shown:
            yield Picture(f"{anchor}-{layer.density.name}", _svg(world, layer, defaults))


def _svg(world: World, layer: Layer, defaults: Sequence[DefaultCoordinates]) -> str:
    side = _side(world.grid.km)
    columns, rows, sums = _squares(world, layer, side)
    km = wording.count(side / SCALE * _RADIUS_KM)
    squares = _draw(columns, rows, np.array(colours_of(sums)), side)
    unit = f"{layer.density.unit} per {km} km by {km} km"
    content = f"{land()}{lines()}{squares}{_rings(defaults)}"
    return frame(layer.density.title, content, legend(sums, unit))


def _side(km: float) -> float:
    """Return the sides of squares in px: a cell's sides, doubled until they can be seen."""
    # Radians are units of the plane near its middle.
    cell = km / _RADIUS_KM * SCALE
    return float(cell * 2 ** max(0, np.ceil(np.log2(_SQUARE / cell))))


def _squares(world: World, layer: Layer, side: float) -> tuple[I64, I64, F64]:
    """Return column, row and sum of the squares that have a weight."""
    x, y = pixels(*world.centres)
    selection = layer.weights > 0
    # Pixels of cells, floored to squares.
    places = np.column_stack([x, y])[selection] // side
    squares, of = np.unique(places.astype(np.int64), axis=0, return_inverse=True)
    sums = sums_by(of.ravel(), layer.weights[selection], len(squares))
    return squares[:, 0], squares[:, 1], sums


def _draw(columns: I64, rows: I64, colours: NDArray[np.str_], side: float) -> str:
    """Return a path for each colour."""
    paths = []
    for colour in np.unique(colours):
        selection = colours == colour
        squares = "".join(
            f"M{column * side:.1f} {row * side:.1f}h{side:.1f}v{side:.1f}h-{side:.1f}z"
            for column, row in zip(
                columns[selection].tolist(), rows[selection].tolist(), strict=True
            )
        )
        paths.append(f'<path fill="{colour}" d="{squares}"/>')
    return "".join(paths)


def _rings(defaults: Sequence[DefaultCoordinates]) -> str:
    x, y = pixels(np.array([default.latitude for default in defaults]),
                  np.array([default.longitude for default in defaults]))  # fmt: skip
    return "".join(
        f'<circle cx="{a:.1f}" cy="{b:.1f}" r="7" fill="none" stroke="{_RING}" stroke-width="2"/>'
        for a, b in zip(x.tolist(), y.tolist(), strict=True)
    )


def country_pictures(anchor: str, layer: CountryLayer) -> Iterator[Picture]:
    """Yield the picture of a layer, named ANCHOR-DENSITY, if it shows something."""
    if layer.countries:
        scale = legend(layer.weights, f"{layer.density.unit} per country")
        content = f"{land()}{_areas(layer)}{lines()}"
        yield Picture(f"{anchor}-{layer.density.name}", frame(layer.density.title, content, scale))


def _areas(layer: CountryLayer) -> str:
    """Return a path for each country, of all its rings: so holes stay empty."""
    paths = {country.code: "" for country in layer.countries}
    for code, ring in rings():
        if code in paths:
            paths[code] += ring
    return "".join(
        f'<path fill="{colour}" d="{path}"/>'
        for colour, path in zip(colours_of(layer.weights), paths.values(), strict=True)
    )
