"""A density by country as a picture of its own: countries by colour, outlines, a legend."""

from __future__ import annotations

from collections.abc import Iterator

from geolookup.pictures.files import Picture
from geolookup.pictures.world_countries import CountryLayer
from geolookup.pictures.world_frame import (
    COLOURS,
    colour_steps,
    framed,
    land,
    legend,
    lines,
    rings,
)


def country_pictures(anchor: str, layer: CountryLayer) -> Iterator[Picture]:
    """Yield the picture of a layer, named ANCHOR-DENSITY, if it shows something."""
    if layer.countries:
        scale = legend(layer.weights, f"{layer.density.unit} per country")
        drawn = f"{land()}{_areas(layer)}{lines()}"
        yield Picture(f"{anchor}-{layer.density.name}", framed(layer.density.title, drawn, scale))


def _areas(layer: CountryLayer) -> str:
    """Return a path for each country, of all its rings: so holes stay empty."""
    steps = colour_steps(layer.weights).tolist()
    paths = {each.code: "" for each in layer.countries}
    for code, ring in rings():
        if code in paths:
            paths[code] += ring
    return "".join(
        f'<path fill="{COLOURS[step]}" d="{path}"/>'
        for step, path in zip(steps, paths.values(), strict=True)
    )
