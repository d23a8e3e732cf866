"""The fields of an answer, beside the published schema, the Arrow tables and the recipe's page."""

from __future__ import annotations

import re
from ipaddress import ip_address
from typing import Any

import pytest

from geolookup.contract import fields
from geolookup.contract.fields import FIELDS, Field
from tests.conftest import ROOT
from tests.envelopes import published

JSON_TYPES = {
    "string": "string",
    "list<item: string>": "array",
    "double": "number",
    "int64": "number",
    "int32": "number",
    "uint32": "number",
    "bool": "boolean",
}


def described(field: Field) -> tuple[dict[str, Any], bool]:
    """Return what the schema says of a field, and whether its object must have it."""
    definitions = published()["$defs"]
    holder = definitions[field.group or "data"]
    return holder["properties"][field.member], field.member in holder["required"]


def allowed(schema: dict[str, Any]) -> set[str]:
    """Return the types that a schema allows; enumerations state none, but list null."""
    stated = schema.get("type", ["string", "null"] if None in schema.get("enum", ()) else "string")
    return {stated} if isinstance(stated, str) else set(stated)


@pytest.mark.parametrize("field", FIELDS, ids=lambda each: each.path)
def test_a_field_is_what_the_schema_says(field: Field) -> None:
    schema, required = described(field)
    types = allowed(schema)
    (kind,) = types - {"null"}
    assert ("number" if kind == "integer" else kind) == JSON_TYPES[field.type]
    assert required is not field.optional
    assert ("null" in types) is (field.nullable and not field.optional)


def test_the_schema_has_no_other_fields() -> None:
    definitions = published()["$defs"]
    groups = {name: list(definitions[name]["properties"]) for name in fields.GROUPS}
    listed = [f"{group}.{name}" for group, names in groups.items() for name in names]
    assert [field.path for field in FIELDS if field.group] == listed
    assert list(fields.PATHS[:6]) == list(definitions["data"]["properties"])


def test_a_field_with_a_table_has_a_column_and_a_layer() -> None:
    for field in FIELDS:
        assert bool(field.table) == bool(field.column) == bool(field.layer), field
    columns = [(field.table, field.column) for field in FIELDS if field.table]
    assert len(set(columns)) == len(columns)


def test_the_one_field_that_may_be_absent_comes_first_in_its_row() -> None:
    absent = [field for field in FIELDS if field.optional]
    assert [field.path for field in absent] == ["network.asn"]
    assert fields.in_table(fields.NETWORK)[0] is absent[0]
    assert fields.NETWORK_MEMBERS[1:] == fields.NETWORK_MEMBERS_WITHOUT_ASN


def test_the_layers_are_those_of_the_recipe() -> None:
    page = (ROOT / "docs" / "recipe.md").read_text(encoding="utf-8")
    assert (
        *("location", "asn", "isp", "organization", "connection_type", "user_type"),
    ) == fields.LAYERS
    assert all(layer in page for layer in fields.LAYERS)


@pytest.mark.parametrize(
    ("path", "hint"),
    [
        ("location.city", "did you mean 'location.city_name'?"),
        ("networks", "did you mean 'network'?"),
        (7, "write location, time, currency, network or a member, such as location.country_code"),
    ],
)
def test_an_unknown_path_names_the_nearest(path: object, hint: str) -> None:
    assert str(fields.unknown_path(path)) == f"no field or group {path!r}; {hint}"


@pytest.mark.parametrize(
    "address",
    [
        "8.8.8.8",
        " 8.8.8.8:443",
        "8.8.8.0/24",
        "[2001:4860:4860::8888]:53",
        "10.0.0.1",
        "fe80::1%eth0",
        "8.8.8.8, 1.1.1.1",
        ip_address("8.8.8.8"),
    ],
)
def test_an_address_as_a_path_is_not_in_the_text(address: object) -> None:
    text = str(fields.unknown_path(address))
    assert text.startswith("no field or group, but an address; write location, ")
    assert not re.search(r"\d|::", text)
