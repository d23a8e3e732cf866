"""What the manifest of a new dataset says: name, sources, credits and what they cover."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pyarrow as pa

from geolookup.contract import fields
from geolookup.dataset.arrow_files import counts, known_fields
from geolookup.dataset.manifest import Manifest
from geolookup.dataset.metadata import Source
from geolookup_builder.intern import Interned
from geolookup_builder.provenance import Coverage, coverage
from geolookup_builder.recipe import Recipe
from geolookup_builder.reference.credits import CREDITS, Credit


def logical(
    recipe: Recipe,
    interned: Interned,
    tables: Mapping[str, pa.Table],
    added: Sequence[Credit],
    rows: Sequence[int],
) -> Manifest:
    """Return the manifest without generation and files.

    ``added`` are credits besides the usual, ``rows`` the usable rows of each source.
    """
    decided = coverage(interned.provenance, len(recipe.sources))
    reference = CREDITS if recipe.countries is None else ()
    return Manifest.of(
        name=recipe.name,
        sources=_sources(recipe, decided, rows),
        credits=_credits([*reference, *added]),
        fields=known_fields(tables),
        counts=counts(tables),
        coverage=_total(decided),
    )


def _credits(listed: Iterable[Credit]) -> list[dict[str, str]]:
    names = ("name", "licence", "attribution", "url")
    return [{name: getattr(credit, name) for name in names} for credit in listed]


def _sources(recipe: Recipe, decided: Sequence[Coverage], rows: Sequence[int]) -> list[Source]:
    return [
        Source(**{**spec.texts, "name": spec.name}, format=spec.format, rows=used, coverage=each)
        for spec, each, used in zip(recipe.sources, decided, rows, strict=True)
    ]


def _total(decided: Sequence[Coverage]) -> Coverage:
    """Return how many addresses each layer is known for, whichever source decides it."""
    families = ("ipv4", "ipv6")
    return {
        layer: {
            family: sum(each[layer][family] for each in decided if layer in each)
            for family in families
        }
        for layer in fields.LAYERS
    }
