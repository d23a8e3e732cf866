"""The recipe of a part of a dataset: one source, the dataset, and the keys that restrict it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from geolookup.archives.head import is_archive, open_archive
from geolookup.contract.schema import column_members
from geolookup.dataset.manifest import read_manifest
from geolookup.store import resolve
from geolookup_builder.recipe.document import DATASET, Recipe, of_document
from geolookup_builder.sources import auto


def slice_recipe(
    dataset: str,
    name: str,
    *,
    only: Sequence[str] = (),
    unwanted: Sequence[str] = (),
    within: Sequence[str] = (),
    families: Sequence[int] = (),
    fields: Sequence[str] = (),
) -> Recipe:
    """Return the recipe of a part of a dataset, store or archive; ``name`` names the new dataset.

    ``unwanted`` are conditions that no answer may meet. Conditions may name own columns of the
    dataset. Raises BuildError for a malformed condition, network or field, DatasetError if there
    is no dataset.
    """
    if is_archive(Path(dataset)):
        with open_archive(Path(dataset)) as (head, _):
            schema = head.manifest.schema
    else:
        schema = read_manifest(resolve.folder(dataset)).schema
    columns = [column_members(field) for field in schema.own]
    conditions: list[Any] = [*only, *([{"not": list(unwanted)}] if unwanted else ())]
    keys = {"only": conditions, "within": list(within), "families": list(families)}
    source = {"format": DATASET, "path": dataset, **{key: of for key, of in keys.items() if of}}
    document = {
        "dataset": {"name": name, **({"fields": list(fields)} if fields else {})},
        "columns": {column.pop("name"): column for column in columns},
        "source": [source],
    }
    return of_document(Path("slice"), document, auto.options())
