"""The names of fields in a recipe: as in calls and options, or as columns of a source."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from geolookup.contract.fields import BY_SOURCE_COLUMN, NAMES, Field
from geolookup.contract.paths import path_of_name, resolve_field, resolve_fields
from geolookup.errors import BuildError

_T = TypeVar("_T")
_FIELDS = tuple(BY_SOURCE_COLUMN.values())
_BY_PATH = {field.path: column for column, field in BY_SOURCE_COLUMN.items()}
_GROUPS = {field.group for field in _FIELDS}


def source_column(recipe: Path, option: str, name: object) -> str:
    """Return the column of a source that one name of a recipe means: city is city_name.

    Raises BuildError for a group and for an unknown name; the message names the option.
    """
    field = BY_SOURCE_COLUMN.get(name) if isinstance(name, str) else None
    return _column(field or _resolve(recipe, option, name, resolve_field))


def source_columns(recipe: Path, option: str, name: object) -> list[str]:
    """Return the columns that a name means; of a group, all that a source may have."""
    if isinstance(name, str) and name in BY_SOURCE_COLUMN:
        return [name]
    fields = _resolve(recipe, option, name, lambda one, *more: resolve_fields([one], *more))
    return [_column(field) for field in fields]


def near_column(name: str) -> str | None:
    """Return the column that a name of another product means, or None."""
    return _BY_PATH.get(path_of_name(name) or "")


def _column(field: Field) -> str:
    return _BY_PATH[field.path]


def _resolve(
    recipe: Path,
    option: str,
    name: object,
    resolve: Callable[[object, tuple[Field, ...], str], _T],
) -> _T:
    path = NAMES.get(name) if isinstance(name, str) else None
    if path is not None and path not in _BY_PATH and path not in _GROUPS:
        problem = f"{option}: {name} follows from other fields, no source states it"
        raise BuildError(recipe, problem, remedy="leave it out")
    try:
        return resolve(name, _FIELDS, option)
    except ValueError as error:
        problem, _, remedy = str(error).partition("; ")
        raise BuildError(recipe, problem, remedy=remedy) from error
