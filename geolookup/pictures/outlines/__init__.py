"""Outlines of Natural Earth: the land and the borders of countries, at the scale 1:50,000,000.

Natural Earth is in the public domain. ``generate`` makes the file, ``natural_earth.json``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from geolookup.dataset.intervals import F64, I64
from geolookup.pictures.numbers import pack_integers, unpack_integers

FILE = Path(__file__).with_name("natural_earth.json")
#: What a page says of its source.
CREDIT = "Outlines: Natural Earth (public domain)"
#: Steps of a degree: one is 2 km.
STEPS = 50


class Lines(NamedTuple):
    """Lines of several points: how many each has, and all of them in steps of a degree."""

    lengths: I64
    latitudes: I64
    longitudes: I64

    def degrees(self) -> tuple[F64, F64]:
        """Return the latitudes and longitudes of all points."""
        return self.latitudes / STEPS, self.longitudes / STEPS


def packed() -> dict[str, Any]:
    """Return the outlines as a page takes them: ``land``, closed rings, and ``borders``."""
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def to_json(land: Lines, borders: Lines) -> str:
    """Return the text of the file."""
    parts = {"steps": STEPS, "land": _pack(land), "borders": _pack(borders)}
    return json.dumps(parts, indent=1) + "\n"


def _pack(lines: Lines) -> dict[str, str]:
    return {name: pack_integers(values) for name, values in lines._asdict().items()}


def unpacked(part: Mapping[str, str]) -> Lines:
    """Return ``land`` or ``borders`` of what is packed."""
    return Lines(*(unpack_integers(part[name]) for name in Lines._fields))
