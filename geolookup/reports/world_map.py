"""The section with a map of the world: densities by place and by country."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from geolookup.pictures import outlines, wording
from geolookup.pictures.log_classes import MOST, class_colours
from geolookup.pictures.page_data import pack_floats, pack_integers
from geolookup.pictures.picture_files import Picture
from geolookup.pictures.densities import (
    CountryDensity,
    CountryLayer,
    DefaultCoordinates,
    Density,
    Layer,
    World,
)
from geolookup.pictures.world_picture import country_pictures, pictures
from geolookup.reports.section import Section, Table

#: In the order in which they need each other.
_SCRIPTS = (
    "page_data.js",
    "gestures.js",
    "keys.js",
    "sizes.js",
    "shares.js",
    "world/equal_earth.js",
    "world/grid.js",
    "world/areas.js",
    "world/outlines.js",
    "world/window.js",
    "world/scale.js",
    "world/layer.js",
    "world/countries.js",
    "world/picture.js",
    "world/viewer.js",
    "world/start.js",
)
_HEAD = ("", "on the map", "share", "without a place")
_TRILLION = 1e12
_COUNTRIES_NOTE = (
    "By country, the whole area of a country has its colour. What has no known country, or one "
    "without an area of its own on this map, is without a place."
)


def world_section(
    anchor: str,
    title: str,
    densities: Sequence[Density],
    defaults: Sequence[DefaultCoordinates] = (),
    least: float = 0,
    countries: CountryDensity | None = None,
) -> Section:
    """Return a map of densities, the first of them shown at first, and of one by country.

    Rings mark ``defaults``. Nothing is more precise than 1 km. Cells and countries of less than
    ``least`` are hidden, as ``World`` and ``CountryLayer`` do; the page has their sum.
    """
    world = World(densities, least)
    by_country = None if countries is None else CountryLayer(countries, least)
    layers = _layers(world, by_country)
    if not any(layer.shown for layer in layers):
        nothing = "Nothing to show: no place is known"
        nothing += ", or all are hidden." if least else "."
        return Section(anchor, title, "world.html", {"densities": (), "nothing": nothing})
    name = f"{anchor}-map"
    data = {"world-outlines": _outlines(), name: _pack(world, layers, defaults)}
    return Section(
        anchor,
        title,
        "world.html",
        _values(name, title, world, layers, defaults),
        data,
        scripts=_SCRIPTS,
        styles=("world.css",),
        pictures=_pictures(anchor, world, by_country, defaults),
    )


def _layers(world: World, by_country: CountryLayer | None) -> list[Layer | CountryLayer]:
    """Return the choices of the reader, countries first if most has no coordinates."""
    if by_country is None:
        return [*world.layers]
    first = world.layers[0]
    mostly_nowhere = first.nowhere > first.shown + first.hidden
    return [by_country, *world.layers] if mostly_nowhere else [*world.layers, by_country]


def _pictures(
    anchor: str,
    world: World,
    by_country: CountryLayer | None,
    defaults: Sequence[DefaultCoordinates],
) -> Iterator[Picture]:
    yield from pictures(anchor, world, defaults)
    if by_country is not None:
        yield from country_pictures(anchor, by_country)


def _outlines() -> dict[str, Any]:
    shapes = outlines.read()
    return {
        "steps": outlines.STEPS,
        "countries": shapes.countries.tolist(),
        "land": _lines(shapes.land),
        "borders": _lines(shapes.borders),
    }


def _lines(lines: outlines.Lines) -> dict[str, str]:
    return {name: pack_integers(numbers) for name, numbers in lines._asdict().items()}


def _pack(
    world: World,
    layers: Sequence[Layer | CountryLayer],
    defaults: Sequence[DefaultCoordinates],
) -> dict[str, Any]:
    return {
        "km": world.grid.km,
        "columns": pack_integers(world.grid.columns),
        "cells": pack_integers(world.cells),
        "densities": [_pack_layer(layer) for layer in layers],
        "colours": [class_colours(classes) for classes in range(1, MOST + 1)],
        "defaults": [_mark(default) for default in defaults],
    }


def _pack_layer(layer: Layer | CountryLayer) -> dict[str, Any]:
    members = {"name": layer.density.name, "unit": layer.density.unit}
    if isinstance(layer, Layer):
        return {**members, "weights": pack_floats(layer.weights)}
    countries = [
        (country.code, wording.name(country.name or country.code or ""), country.weight)
        for country in layer.countries
    ]
    return {**members, "countries": countries}


def _mark(default: DefaultCoordinates) -> dict[str, Any]:
    count, share = wording.count(default.weight), wording.percent(default.share)
    text = (
        f"{wording.name(default.name)}, {default.reason}, {count} addresses, {share} of the country"
    )
    return {"latitude": default.latitude, "longitude": default.longitude, "text": text}


def _values(
    name: str,
    title: str,
    world: World,
    layers: Sequence[Layer | CountryLayer],
    defaults: Sequence[DefaultCoordinates],
) -> dict[str, Any]:
    hides = world.least > 0
    return {
        "data": name,
        "label": f"Map of the world: {title}",
        "densities": [layer.density for layer in layers],
        "shown": Table(
            "What the map shows",
            (*_HEAD, "hidden") if hides else _HEAD,
            [_row(layer, hides=hides) for layer in layers],
        ),
        "notes": (*_notes(world, layers), f"{outlines.CREDIT}. Projection: Equal Earth."),
        "defaults": bool(defaults),
    }


def _notes(world: World, layers: Sequence[Layer | CountryLayer]) -> Iterator[str]:
    side = wording.count(world.grid.km)
    yield (
        f"The page holds sums by cells of at least {side} km by {side} km, and no exact place. "
        "Equal areas of the map are equal areas of the Earth."
    )
    if any(isinstance(layer, CountryLayer) for layer in layers):
        yield _COUNTRIES_NOTE


def _row(layer: Layer | CountryLayer, *, hides: bool) -> tuple[str, ...]:
    of = layer.shown + layer.nowhere + layer.hidden
    others = [layer.nowhere, *([layer.hidden] if hides else [])]
    share = wording.percent(layer.shown / (of or 1.0))
    amounts = (_amount(amount, of) for amount in others)
    return (layer.density.title, _amount(layer.shown, of), share, *amounts)


def _amount(number: float, of: float) -> str:
    """Return a number that people say: a share if all is a trillion or more."""
    return wording.short(number) if of < _TRILLION else wording.percent(number / of)
