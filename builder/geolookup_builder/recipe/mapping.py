"""The table ``columns`` of a source: columns of its files with other names than their fields.

Fields have the names of calls and options, own columns the names of ``[columns]``. The other
columns of files are read by their names.
"""

from __future__ import annotations

from collections.abc import Mapping

from geolookup.errors import BuildError, near_match
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.recipe.field_names import source_column

#: The parts of a range: a network, or an address and its netmask, or two inclusive ends.
RANGE_NAMES = ("network", "netmask", "first", "last")
RANGES = (("network", "netmask"), ("network",), ("first", "last"))
_OPTION = "source.columns"
_EXAMPLE = 'write columns = { network = "cidr", country_code = "country" }'


def recipe_columns(spec: SourceSpec) -> dict[str, str]:
    """Return the mapped columns of files by source column or part of a range; empty if none.

    Without a header they are positions from 1, as texts. Raises BuildError for another form, for a
    name of no field, and for two names of one.
    """
    columns = spec.options.get("columns", {})
    if not isinstance(columns, dict) or ("columns" in spec.options and not columns):
        raise BuildError(spec.recipe, f"{_OPTION} is not a table of names", remedy=_EXAMPLE)
    mapped: dict[str, str] = {}
    for name, column in columns.items():
        _check(spec, name, column)
        field = name if name in RANGE_NAMES else _field_named(spec, name)
        if field in mapped:
            raise BuildError(spec.recipe, f"{_OPTION}: {name} is there twice", remedy="drop one")
        mapped[field] = str(column)
    _check_ranges(spec, mapped)
    return mapped


def _check(spec: SourceSpec, name: str, column: object) -> None:
    has_header = spec.options.get("header", True)
    if has_header and (not isinstance(column, str) or not column):
        remedy = 'name a column, such as city = "town", or write header = false'
        raise BuildError(spec.recipe, f"{_OPTION}.{name} is not a name", remedy=remedy)
    if not has_header and (type(column) is not int or column < 1):
        remedy = "write 1 for the first column; without a header there are no names"
        raise BuildError(spec.recipe, f"{_OPTION}.{name} is not a position", remedy=remedy)


def _field_named(spec: SourceSpec, name: str) -> str:
    try:
        return source_column(spec.recipe, _OPTION, name, spec.schema)
    except BuildError as error:
        remedy = near_match(name, RANGE_NAMES, fallback="") or error.remedy or ""
        if error.problem.startswith(f"{_OPTION}: no field") and remedy.startswith("write a field"):
            remedy = f"write a field, such as country_code, or declare {name!r} in [columns]"
        raise BuildError(spec.recipe, error.problem, remedy=remedy) from error


def _check_ranges(spec: SourceSpec, mapped: Mapping[str, str]) -> None:
    """Raise BuildError for parts of two ranges, and for a column that is the range and a field."""
    parts = {name for name in RANGE_NAMES if name in mapped}
    if not any(parts <= {*names} for names in RANGES):
        remedy = "name one column as network, or two as first and last"
        raise BuildError(spec.recipe, "two ranges in columns", remedy=remedy)
    columns = [*mapped.values()]
    for name in parts:
        if columns.count(mapped[name]) > 1:  # two fields may share a column
            raise range_twice(spec, mapped[name])


def range_twice(spec: SourceSpec, column: str) -> BuildError:
    """Return the error about a column that is the range and a field."""
    problem = f"column {column!r} is the range and something else in columns"
    return BuildError(spec.recipe, problem, remedy="keep one of them")
