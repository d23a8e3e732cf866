"""The section with a map of the world: where what is counted lies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from geolookup.pictures import outlines, texts
from geolookup.pictures.numbers import pack_floats, pack_integers
from geolookup.pictures.world import Density, Layer, Pile, World
from geolookup.pictures.world_picture import COLOURS, pictures
from geolookup.reports.section import Section
from geolookup.reports.table import Table

#: In the order in which they need each other.
_SCRIPTS = (
    "inflate.js",
    "numbers.js",
    "gestures.js",
    "world/equal_earth.js",
    "world/grid.js",
    "world/areas.js",
    "world/outlines.js",
    "world/window.js",
    "world/scale.js",
    "world/layer.js",
    "world/viewer.js",
    "world/start.js",
)
_HEAD = ("", "on the map", "without coordinates")
#: What ``piles.find_piles`` looks for.
_PILES_NOTE = (
    "A pile is a place that seems to stand for a country or a provider: addresses without a city "
    "lie there, or a quarter of the addresses of a country with at least ten places. "
    "The table has the largest."
)
_PILES_HEAD = ("Place", "why", "latitude, longitude", "addresses", "share of the country's")


def world_section(
    anchor: str,
    title: str,
    densities: Sequence[Density],
    piles: Sequence[Pile] = (),
    least: float = 0,
) -> Section:
    """Return a map of densities, the first of them shown at first, with rings around piles.

    Nothing in it is more precise than 1 km. A cell whose weight is less than ``least`` is not
    shown; the sum of those is stated.
    """
    world = World(densities, least)
    if not len(world.cells):
        nothing = "Nothing to show has coordinates."
        return Section(anchor, title, "world.html", {"densities": (), "nothing": nothing})
    name = f"{anchor}-map"
    data = {"world-outlines": _outlines(), name: _packed(world, piles)}
    return Section(
        anchor,
        title,
        "world.html",
        _values(name, title, world, piles),
        data,
        scripts=_SCRIPTS,
        styles=("world.css",),
        pictures=pictures(anchor, world, piles),
    )


def _outlines() -> dict[str, Any]:
    parts = outlines.read().items()
    packed = {
        part: {name: pack_integers(each) for name, each in lines._asdict().items()}
        for part, lines in parts
    }
    return {"steps": outlines.STEPS, **packed}


def _packed(world: World, piles: Sequence[Pile]) -> dict[str, Any]:
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
        "piles": [_mark(pile) for pile in piles],
    }


def _mark(pile: Pile) -> dict[str, Any]:
    count, share = texts.count(pile.weight), texts.percent(pile.share)
    text = f"{texts.name(pile.name)}, {pile.reason}, {count} addresses, {share} of the country's"
    return {"latitude": pile.latitude, "longitude": pile.longitude, "text": text}


def _values(name: str, title: str, world: World, piles: Sequence[Pile]) -> dict[str, Any]:
    hides = world.least > 0
    return {
        "data": name,
        "label": f"Map of the world: {title}",
        "densities": [layer.density for layer in world.layers],
        "shown": Table(
            "What the map shows",
            (*_HEAD, f"hidden: fewer than {texts.count(world.least)}") if hides else _HEAD,
            [_row(layer, hides=hides) for layer in world.layers],
        ),
        "notes": (_precision(world), f"{outlines.CREDIT}. Projection: Equal Earth."),
        "piles": Table(
            "Piles of addresses at one place",
            _PILES_HEAD,
            [_pile_row(pile) for pile in piles],
            words=(1,),
        ),
        "piles_note": _PILES_NOTE,
    }


def _precision(world: World) -> str:
    side = texts.count(world.grid.km)
    return (
        f"The page holds sums by cells of at least {side} km by {side} km, no single places. "
        "Equal areas of the map are equal areas of the Earth."
    )


def _row(layer: Layer, *, hides: bool) -> tuple[str, ...]:
    amounts = [layer.shown, layer.nowhere, *([layer.hidden] if hides else [])]
    return (layer.density.title, *(texts.count(each) for each in amounts))


def _pile_row(pile: Pile) -> tuple[str, ...]:
    place = f"{pile.latitude:.2f}, {pile.longitude:.2f}"
    share = texts.percent(pile.share)
    return (texts.name(pile.name), pile.reason, place, texts.count(pile.weight), share)
