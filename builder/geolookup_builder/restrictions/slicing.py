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
from geolookup_builder.sources import FORMATS, auto


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
    """Return the recipe of a part of a dataset, store or archive; ``name`` is of the new dataset.

    ``unwanted`` are conditions that no answer may meet. Conditions may name own columns of the
    dataset. Raises BuildError for a malformed condition, network or field, DatasetError if there
    is no dataset.
    """
    conditions: list[Any] = [*only, *([{"not": list(unwanted)}] if unwanted else ())]
    keys = {"only": conditions, "within": list(within), "families": list(families)}
    source = {"format": DATASET, "path": dataset, **{key: of for key, of in keys.items() if of}}
    kept = {"fields": list(fields)} if fields else {}
    document = {
        "dataset": {"name": name, **kept},
        "columns": _columns(Path(dataset)),
        "source": [source],
    }
    return of_document(Path("slice"), document, auto.options(FORMATS))


def _columns(dataset: Path) -> dict[str, dict[str, Any]]:
    """Return the own columns of a dataset, store or archive, as a recipe declares them."""
    if is_archive(dataset):
        with open_archive(dataset) as (head, _):
            schema = head.manifest.schema
    else:
        schema = read_manifest(resolve.folder(dataset)).schema
    columns = map(column_members, schema.own)
    return {column.pop("name"): column for column in columns}
