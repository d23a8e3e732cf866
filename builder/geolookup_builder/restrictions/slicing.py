"""The recipe of a part of a dataset: one source, the dataset, and the keys that restrict it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from geolookup.archives.head import open_archive
from geolookup.contract.schema import column_members
from geolookup.dataset.manifest import read_manifest
from geolookup.store import resolve
from geolookup_builder.recipe.document import DATASET, Recipe, of_document
from geolookup_builder.sources import FORMATS, auto


@dataclass(frozen=True, slots=True)
class Part:
    """The part of a dataset that is kept, as in a recipe; empty: everything.

    ``unwanted`` are conditions that no answer may meet.
    """

    only: tuple[str, ...] = ()
    unwanted: tuple[str, ...] = ()
    within: tuple[str, ...] = ()
    families: tuple[int, ...] = ()
    fields: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return any((self.only, self.unwanted, self.within, self.families, self.fields))


def slice_recipe(dataset: str, part: Part, name: str) -> Recipe:
    """Return the recipe of a part of a dataset, store or archive; ``name`` is of the new dataset.

    Conditions may name own columns of the dataset. Raises BuildError for a malformed condition,
    network or field, DatasetError if there is no dataset.
    """
    conditions: list[Any] = [*part.only, *([{"not": list(part.unwanted)}] if part.unwanted else ())]
    keys = {
        "only": conditions,
        "within": list(part.within),
        "families": list(part.families),
    }
    source = {"format": DATASET, "path": dataset, **{key: of for key, of in keys.items() if of}}
    fields = {"fields": list(part.fields)} if part.fields else {}
    document = {
        "dataset": {"name": name, **fields},
        "columns": _columns(Path(dataset)),
        "source": [source],
    }
    return of_document(Path("slice"), document, auto.options(FORMATS))


def _columns(dataset: Path) -> dict[str, dict[str, Any]]:
    """Return the own columns of a dataset, store or archive, as a recipe declares them."""
    if dataset.is_file():
        with open_archive(dataset) as (head, _):
            schema = head.manifest.schema
    else:
        schema = read_manifest(resolve.folder(dataset)).schema
    columns = map(column_members, schema.own)
    return {column.pop("name"): column for column in columns}
