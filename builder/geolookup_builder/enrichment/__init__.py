"""Finders: each derives one missing field of a location from the fields it has.

Finders are created before any source is read: a missing library or table stops the build at
once. ``find`` receives the fields that a finder ``needs`` of the distinct locations without its
``field``. It returns null for a location if it finds nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

from geolookup.errors import BuildError
from geolookup_builder.enrichment.by_coordinates import Stations, Zones
from geolookup_builder.enrichment.regions import Regions
from geolookup_builder.recipe.document import Recipe
from geolookup_builder.values import Reference

Finder: TypeAlias = Zones | Regions | Stations


def finders(plan: Recipe, reference: Reference) -> tuple[Finder, ...]:
    """Return the finders that a recipe asks for; BuildError if one is not available."""
    options, result = plan.enrich, list[Finder]()
    if options.time_zone:
        with _library(plan.path, "enrich.time_zone", "tzfpy"):
            result.append(Zones(reference.zones))
    if options.region_code:
        with _library(plan.path, "enrich.region_code", "pycountry"):
            result.append(Regions())
    if options.stations is not None:
        with _library(plan.path, "enrich.weather", "scipy"):
            result.append(Stations(options.stations, options.max_km))
    return tuple(result)


@contextmanager
def _library(recipe: Path, key: str, name: str) -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        remedy = 'pip install "geolookup[enrich]"'
        raise BuildError(recipe, f"{key} needs {name} ({error})", remedy=remedy) from error
