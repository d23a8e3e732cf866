"""The section with a map of the world: where what is counted lies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from geolookup.pictures import outlines, texts
from geolookup.pictures.numbers import pack_floats, pack_integers
from geolookup.pictures.world import DefaultCoordinates, Density, Layer, World
from geolookup.pictures.world_picture import COLOURS, pictures
from geolookup.reports.section import Section
from geolookup.reports.table import Table

#: In the order in which they need each other.
_SCRIPTS = (
    "inflate.js",
    "numbers.js",
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
    "world/picture.js",
    "world/viewer.js",
    "world/start.js",
)
_HEAD = ("", "on the map", "without coordinates")
#: What ``default_coordinates.find_default_coordinates`` looks for.
_DEFAULTS_NOTE = (
    "Default coordinates seem to stand for a country or a provider, not for a place: addresses "
    "without a city have them, or at least a quarter of the addresses of a country with at least "
    "ten places. The table has those with the most IPv4 addresses."
)
_DEFAULTS_HEAD = ("Country", "reason", "latitude, longitude", "addresses", "of the country")


def world_section(
    anchor: str,
    title: str,
    densities: Sequence[Density],
    defaults: Sequence[DefaultCoordinates] = (),
    least: float = 0,
) -> Section:
    """Return a map of densities, the first of them shown at first.

    Rings mark ``defaults``. Nothing is more precise than 1 km. Cells of less than ``least`` are
    hidden, as ``World`` does; the sum of those is stated.
    """
    world = World(densities, least)
    if not len(world.cells):
        nothing = "Nothing to show: no coordinates are known"
        nothing += f", or every cell has fewer than {texts.count(least)}." if least else "."
        return Section(anchor, title, "world.html", {"densities": (), "nothing": nothing})
    name = f"{anchor}-map"
    data = {"world-outlines": _outlines(), name: _packed(world, defaults)}
    return Section(
        anchor,
        title,
        "world.html",
        _values(name, title, world, defaults),
        data,
        scripts=_SCRIPTS,
        styles=("world.css",),
        pictures=pictures(anchor, world, defaults),
    )


def _outlines() -> dict[str, Any]:
    drawn = outlines.read()
    return {
        "steps": outlines.STEPS,
        "countries": drawn.countries.tolist(),
        "land": _lines(drawn.land),
        "borders": _lines(drawn.borders),
    }


def _lines(lines: outlines.Lines) -> dict[str, str]:
    return {name: pack_integers(each) for name, each in lines._asdict().items()}


def _packed(world: World, defaults: Sequence[DefaultCoordinates]) -> dict[str, Any]:
    densities = [
        {
            "name": layer.density.name,
            "unit": layer.density.unit,
            "weights": pack_floats(layer.weights),
        }
        for layer in world.layers
    ]
    return {
        "km": world.grid.km,
        "columns": pack_integers(world.grid.columns),
        "cells": pack_integers(world.cells),
        "densities": densities,
        "colours": COLOURS,
        "defaults": [_mark(each) for each in defaults],
    }


def _mark(default: DefaultCoordinates) -> dict[str, Any]:
    count, share = texts.count(default.weight), texts.percent(default.share)
    text = (
        f"{texts.name(default.name)}, {default.reason}, {count} addresses, {share} of the country"
    )
    return {"latitude": default.latitude, "longitude": default.longitude, "text": text}


def _values(
    name: str, title: str, world: World, defaults: Sequence[DefaultCoordinates]
) -> dict[str, Any]:
    hides = world.least > 0
    return {
        "data": name,
        "label": f"Map of the world: {title}",
        "densities": [layer.density for layer in world.layers],
        "shown": Table(
            "What the map shows",
            (*_HEAD, "in hidden cells") if hides else _HEAD,
            [_row(layer, hides=hides) for layer in world.layers],
        ),
        "notes": (_precision(world), f"{outlines.CREDIT}. Projection: Equal Earth."),
        "defaults": Table(
            "Default coordinates",
            _DEFAULTS_HEAD,
            [_default_row(each) for each in defaults],
            words=(1,),
        ),
        "defaults_note": _DEFAULTS_NOTE,
    }


def _precision(world: World) -> str:
    side = texts.count(world.grid.km)
    return (
        f"The page holds sums by cells of at least {side} km by {side} km, and no exact place. "
        "Equal areas of the map are equal areas of the Earth."
    )


def _row(layer: Layer, *, hides: bool) -> tuple[str, ...]:
    amounts = [layer.shown, layer.nowhere, *([layer.hidden] if hides else [])]
    return (layer.density.title, *(texts.count(each) for each in amounts))


def _default_row(default: DefaultCoordinates) -> tuple[str, ...]:
    place = f"{default.latitude:.2f}, {default.longitude:.2f}"
    share = texts.percent(default.share)
    return (texts.name(default.name), default.reason, place, texts.count(default.weight), share)
