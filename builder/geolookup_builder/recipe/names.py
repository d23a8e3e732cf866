"""The names in a recipe: of fields, of declared columns, and of the columns of files.

Fields have the names of calls and options. An own column is ``own.site_id``, as in calls, or
``site_id``, as ``[columns]`` declares it.

Readers of vendors offer columns beside the fields of the contract. A recipe declares one in
``[columns]`` by its name here, or maps it in a source: ``columns = { my_flag = "is_vpn" }``.
Without that no reader reads it. Each format has a table from these names to its own columns;
``sources.reading.plans`` reads them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from geolookup.contract.fields import BY_SOURCE_COLUMN, NAMES, OWN_PREFIX
from geolookup.contract.paths import path_of_name, resolve_field, resolve_fields
from geolookup.contract.schema import MEMBERS, Schema, own_schema
from geolookup.errors import BuildError, near_match
from geolookup_builder.recipe.table import Table, recipe_errors

if TYPE_CHECKING:
    from geolookup_builder.recipe.document import SourceSpec

#: The parts of a range: a network, or an address and its netmask, or two inclusive ends.
RANGE_NAMES = ("network", "netmask", "first", "last")
RANGES = (("network", "netmask"), ("network",), ("first", "last"))
_OPTION = "source.columns"
_EXAMPLE = 'write columns = { network = "cidr", country_code = "country" }'
_BY_PATH = {field.path: column for column, field in BY_SOURCE_COLUMN.items()}
_GROUPS = {field.group for field in BY_SOURCE_COLUMN.values()}
#: The names by type. LANG stands for a language: city_name_pt_br.
_NAMES = {
    "boolean": """
        is_anonymous is_proxy is_vpn is_tor is_relay is_residential_proxy is_legitimate_proxy
        is_hosting is_anycast is_mobile is_satellite
    """,
    "integer": """
        last_seen_days fraud_score anonymizer_confidence accuracy_radius metro_code geoname_id
        city_geoname_id region_geoname_id country_geoname_id elevation average_income
        population_density country_confidence subdivision_confidence city_confidence
        postal_confidence
    """,
    "real": "ip_risk static_ip_score",
    "text": """
        proxy_type proxy_provider threat last_seen_date subdivision_2_code subdivision_2_name
        district registered_country_code represented_country_code represented_country_type
        city_name_LANG region_name_LANG country_name_LANG area_code weather_station_name domain
        usage_type address_type category mcc mnc mobile_brand asn_kind asn_domain
        asn_country_code cloud_provider cloud_region cloud_service rir rir_status rir_date
    """,
}
#: The type of each offered column in recipes, one of ``contract.schema.TYPES``.
COLUMNS = {name: kind for kind, names in _NAMES.items() for name in names.split()}
#: Stands for a language in names of columns, and of columns of files.
LANGUAGE = "LANG"
#: "city_name_pt_br": the name with ``LANG``, language, and region or script.
_TRANSLATED = re.compile(r"((?:city|region|country)_name_)([a-z]{2})(?:_([a-z]{2}|[a-z]{4}))?")


def declared_columns(document: Table) -> Schema:
    """Return the schema of ``[columns]``; BuildError for a malformed column.

    ``site_id = "text"`` is short for ``site_id = { type = "text" }``; ``contract.schema`` describes
    the other members.
    """
    columns = document.table("columns")
    members = [_members(columns, name) for name in columns.values]
    with recipe_errors(document.recipe, "columns: "):
        return own_schema(members)


def _members(columns: Table, name: str) -> Mapping[str, Any]:
    """Return the members of a column, as the manifest has them."""
    if isinstance(columns.values[name], str):
        return {"name": name, "type": columns.values[name]}
    column = columns.table(name, *MEMBERS[1:])
    texts = {"type": column.text("type"), **column.texts(("group", "description"))}
    return {"name": name, **texts, "private": column.switch("private")}


def source_column(recipe: Path, option: str, name: object, schema: Schema) -> str:
    """Return the column of a source that one name of a recipe means: city is city_name.

    Raises BuildError for a group and for an unknown name; the message names the option.
    """
    columns = source_columns(recipe, option, name, schema)
    if len(columns) > 1:
        with recipe_errors(recipe):  # of a group
            resolve_field(name, tuple(schema.by_source_column.values()), option)
    return columns[0]


def source_columns(recipe: Path, option: str, name: object, schema: Schema) -> list[str]:
    """Return the columns that a name means; of a group, all that a source may have."""
    for column in (str(name), f"{OWN_PREFIX}{name}"):
        if column in schema.by_source_column:
            return [column]
    path = NAMES.get(name) if isinstance(name, str) else None
    if path is not None and path not in _BY_PATH and path not in _GROUPS:
        problem = f"{option}: {name} follows from other fields, no source states it"
        raise BuildError(recipe, problem, remedy="leave it out")
    with recipe_errors(recipe):
        fields = resolve_fields([name], tuple(schema.by_source_column.values()), option)
    return [field.source_column for field in fields]


def near_column(name: str) -> str | None:
    """Return the column that a name of another product means, or None."""
    return _BY_PATH.get(path_of_name(name) or "")


def mapped_columns(spec: SourceSpec) -> dict[str, str]:
    """Return the table ``columns`` of a source: columns of its files that have other names.

    They are by source column or part of a range. Without a header they are positions from 1, as
    texts. Raises BuildError for another form, for a name of no field, and for two names of one.
    """
    columns = spec.options.get("columns", {})
    if not isinstance(columns, dict) or ("columns" in spec.options and not columns):
        raise BuildError(spec.recipe, f"{_OPTION} is not a table of names", remedy=_EXAMPLE)
    mapped: dict[str, str] = {}
    for name, column in columns.items():
        _check_column(spec, name, column)
        field = name if name in RANGE_NAMES else _mapped_field(spec, name)
        if field in mapped:
            raise BuildError(spec.recipe, f"{_OPTION}: {name} is there twice", remedy="drop one")
        mapped[field] = str(column)
    parts = {*RANGE_NAMES} & mapped.keys()
    if not any(parts <= {*names} for names in RANGES):
        remedy = "name one column as network, or two as first and last"
        raise BuildError(spec.recipe, "two ranges in columns", remedy=remedy)
    return mapped


def _check_column(spec: SourceSpec, name: str, column: object) -> None:
    if spec.options.get("header", True):
        kind, is_right = "name", isinstance(column, str) and bool(column)
        remedy = 'name a column, such as city = "town", or write header = false'
    else:
        kind, is_right = "position", type(column) is int and column > 0
        remedy = "write 1 for the first column; without a header there are no names"
    if not is_right:
        raise BuildError(spec.recipe, f"{_OPTION}.{name} is not a {kind}", remedy=remedy)


def _mapped_field(spec: SourceSpec, name: str) -> str:
    try:
        return source_column(spec.recipe, _OPTION, name, spec.schema)
    except BuildError as error:
        remedy = near_match(name, RANGE_NAMES, fallback="") or error.remedy or ""
        if remedy.startswith("write a field"):
            remedy = f"write a field, such as country_code, or declare {name!r} in [columns]"
        raise BuildError(spec.recipe, error.problem, remedy=remedy) from error


def offered_type(name: str) -> str | None:
    """Return the type of the offered column that a name means; None if there is none.

    ``city_name_de`` is ``city_name_LANG``.
    """
    return COLUMNS.get(with_language(name)[0])


def with_language(name: str) -> tuple[str, str]:
    """Return a name with ``LANG`` for its language, and the language: "" if it has none.

    ``city_name_pt_br`` is ``city_name_LANG`` in ``pt-BR`` (RFC 5646).
    """
    match = _TRANSLATED.fullmatch(name)
    if match is None:
        return name, ""
    before, language, part = match.groups()
    parts = [language, *([part.upper() if len(part) == 2 else part.title()] if part else [])]
    return before + LANGUAGE, "-".join(parts)
