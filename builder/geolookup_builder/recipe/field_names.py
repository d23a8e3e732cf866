"""The names of fields in a recipe: as in calls and options, or as columns of a source.

An own column is ``own.site_id``, as in calls, or ``site_id``, as the recipe declares it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from geolookup.contract.fields import BY_SOURCE_COLUMN, NAMES, OWN_PREFIX, Field
from geolookup.contract.paths import path_of_name, resolve_field, resolve_fields
from geolookup.contract.schema import Schema
from geolookup.errors import BuildError
from geolookup_builder.recipe.table import recipe_errors

_T = TypeVar("_T")
_BY_PATH = {field.path: column for column, field in BY_SOURCE_COLUMN.items()}
_GROUPS = {field.group for field in BY_SOURCE_COLUMN.values()}


def source_column(recipe: Path, option: str, name: object, schema: Schema) -> str:
    """Return the column of a source that one name of a recipe means: city is city_name.

    Raises BuildError for a group and for an unknown name; the message names the option.
    """
    if column := column_named(name, schema):
        return column
    return _resolve(recipe, option, name, schema, resolve_field).source_column


def source_columns(recipe: Path, option: str, name: object, schema: Schema) -> list[str]:
    """Return the columns that a name means; of a group, all that a source may have."""
    if column := column_named(name, schema):
        return [column]
    fields = _resolve(recipe, option, name, schema, lambda one, *more: resolve_fields([one], *more))
    return [field.source_column for field in fields]


def column_named(name: object, schema: Schema) -> str | None:
    """Return the column of a source that has this name itself, or None."""
    columns = (str(name), f"{OWN_PREFIX}{name}")
    return next((column for column in columns if column in schema.by_source_column), None)


def near_column(name: str) -> str | None:
    """Return the column that a name of another product means, or None."""
    return _BY_PATH.get(path_of_name(name) or "")


def _resolve(
    recipe: Path,
    option: str,
    name: object,
    schema: Schema,
    resolve: Callable[[object, tuple[Field, ...], str], _T],
) -> _T:
    path = NAMES.get(name) if isinstance(name, str) else None
    if path is not None and path not in _BY_PATH and path not in _GROUPS:
        problem = f"{option}: {name} follows from other fields, no source states it"
        raise BuildError(recipe, problem, remedy="leave it out")
    with recipe_errors(recipe):
        return resolve(name, tuple(schema.by_source_column.values()), option)
