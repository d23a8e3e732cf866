"""The own columns of a recipe: ``[columns]``, a name each, with its type or a table of its members.

``site_id = "text"`` is short for ``site_id = { type = "text" }``. The other members are ``group``,
``description`` and ``private``; ``contract.schema`` describes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from geolookup.contract.schema import MEMBERS, TYPES, Schema, own_schema
from geolookup.errors import BuildError, near_match
from geolookup_builder.recipe.table import recipe_errors

_KINDS = {"type": str, "group": str, "description": str, "private": bool}
_EXAMPLE = 'write site_id = "text"'
_EXAMPLES = {
    "type": 'type = "text"',
    "group": 'group = "threat"',
    "description": 'description = "…"',
    "private": "private = true",
}


def read_columns(recipe: Path, columns: object) -> Schema:
    """Return the schema of ``[columns]``; BuildError for a malformed column."""
    if not isinstance(columns, Mapping):
        raise BuildError(recipe, "columns is not a table", remedy=f"{_EXAMPLE} in [columns]")
    members = [_members(recipe, name, column) for name, column in columns.items()]
    with recipe_errors(recipe, "columns: "):
        return own_schema(members)


def _members(recipe: Path, name: str, column: object) -> dict[str, Any]:
    """Return the members of a column, as the manifest has them."""
    members = {"type": column} if isinstance(column, str) else column
    if not isinstance(members, Mapping) or "type" not in members:
        problem = f"columns.{name} has no type"
        raise BuildError(recipe, problem, remedy=f"write one of {', '.join(TYPES)}")
    for key, value in members.items():
        if key not in _KINDS:
            remedy = near_match(key, MEMBERS[1:])
            raise BuildError(recipe, f"unknown key columns.{name}.{key}", remedy=remedy)
        if not isinstance(value, _KINDS[key]):
            kind = "text" if _KINDS[key] is str else "Boolean"
            problem = f"columns.{name}.{key} is not a {kind}"
            raise BuildError(recipe, problem, remedy=f"write {_EXAMPLES[key]}")
    return {"name": name, **members}
