"""The own columns of datasets that are sources: columns of the new dataset too.

The recipe's columns come first, then further columns of each dataset in order. A column
of the same name must be the same in both: its type, its group and whether it is private.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from geolookup.contract.fields import Field
from geolookup.contract.schema import column_members, own_schema
from geolookup.errors import BuildError
from geolookup_builder.datasets.source import DatasetSource
from geolookup_builder.recipe.document import Recipe
from geolookup_builder.recipe.table import recipe_errors


def with_own_columns(recipe: Recipe, datasets: Mapping[int, DatasetSource]) -> Recipe:
    """Return a recipe with the own columns of its datasets, given by their source's index.

    Raises BuildError for a column that differs, and for more columns than a dataset may have.
    """
    if not any(dataset.schema.own for dataset in datasets.values()):
        return recipe
    columns = {field.path: field for field in recipe.schema.own}
    for number, dataset in datasets.items():
        for field in dataset.schema.own:
            if _nature(columns.setdefault(field.path, field)) != _nature(field):
                problem = f"{field.path} has another type, group or private in {dataset.name}"
                remedy = "declare it in [columns] as the dataset does, or choose another name"
                raise BuildError(recipe.path, f"source {number + 1}: {problem}", remedy=remedy)
    with recipe_errors(recipe.path, "columns of datasets: "):
        schema = own_schema([column_members(field) for field in columns.values()])
    sources = [*recipe.sources]
    for number, dataset in datasets.items():
        spec = sources[number]
        if spec.fields >= spec.schema.by_source_column.keys():  # it chooses no fields
            own = frozenset(field.source_column for field in dataset.schema.own)
            sources[number] = replace(spec, fields=spec.fields | own)
    return replace(recipe, schema=schema, sources=tuple(sources))


def _nature(field: Field) -> tuple[object, ...]:
    return field.type, field.layer, field.private
