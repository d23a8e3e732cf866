"""The fields of a dataset: own columns beside the contract's."""

from __future__ import annotations

from typing import Any

import pytest

from tests.internals.contract import (
    CONTRACT,
    FIELDS,
    LAYERS,
    MAX_COLUMNS,
    NAMES,
    STATED,
    Field,
    column_members,
    own_schema,
    resolve_field,
    resolve_fields,
)

COLUMNS: list[dict[str, Any]] = [
    {"name": "site_id", "type": "text", "private": True},
    {"name": "risk", "type": "integer", "description": "0 to 100"},
    {"name": "is_vpn", "type": "boolean", "group": "threat"},
    {"name": "is_tor", "type": "boolean", "group": "threat"},
    {"name": "tags", "type": "texts"},
]
SCHEMA = own_schema(COLUMNS)


def test_own_columns_follow_the_fields_of_the_contract() -> None:
    assert SCHEMA.fields[: len(FIELDS)] == FIELDS
    assert [field.path for field in SCHEMA.own] == [f"own.{column['name']}" for column in COLUMNS]
    assert SCHEMA.layers == (*LAYERS, "own.site_id", "own.risk", "own.threat", "own.tags")
    assert SCHEMA.stated["own.threat"] == ("own.is_vpn", "own.is_tor")
    assert SCHEMA.private_layers == ("own.site_id",)
    assert SCHEMA.in_table("own") == SCHEMA.own
    assert [*map(column_members, SCHEMA.own)] == COLUMNS  # as the manifest states them
    assert own_schema([]) is CONTRACT
    assert (CONTRACT.fields, CONTRACT.stated) == (FIELDS, STATED)
    assert len(own_schema(numbered(MAX_COLUMNS)).own) == MAX_COLUMNS


def numbered(count: int) -> list[dict[str, Any]]:
    return [{"name": f"a{number}", "type": "text"} for number in range(count)]


def test_a_name_of_the_contract_is_no_name_of_a_column() -> None:
    for name in (*NAMES, "network", "own", "json", "first", "A", "a b", "", "1a", "_a", "a" * 64):
        with pytest.raises(ValueError, match="; "):
            own_schema([{"name": name, "type": "text"}])
    for name in ("a_1", "a" * 63):
        assert own_schema([{"name": name, "type": "text"}]).own[0].path == f"own.{name}"


@pytest.mark.parametrize(
    "columns",
    [
        [{"name": "a", "type": "string"}],
        [{"name": "a", "type": "text"}, {"name": "a", "type": "text"}],
        [{"name": "a", "type": "text", "group": "b"}, {"name": "b", "type": "text"}],
        [
            {"name": "a", "type": "text", "group": "g", "private": True},
            {"name": "b", "type": "text", "group": "g"},
        ],
        numbered(MAX_COLUMNS + 1),
    ],
)
def test_malformed_columns_are_one_error_with_a_remedy(columns: list[dict[str, Any]]) -> None:
    with pytest.raises(ValueError, match="; "):
        own_schema(columns)


def test_calls_name_a_column_by_its_path_or_all_by_their_group() -> None:
    assert resolve_fields("own", SCHEMA.fields, "get") == SCHEMA.own
    assert resolve_field("own.risk", SCHEMA.fields, "get") is SCHEMA.own[1]


@pytest.mark.parametrize(
    ("name", "among", "message"),
    [
        ("site_id", SCHEMA.fields, "no field 'site_id'; did you mean 'own.site_id'?"),
        ("own.site", SCHEMA.fields, "no column 'own.site'; did you mean 'own.site_id'?"),
        ("own.site", FIELDS, r"no column 'own.site'; declare it in \[columns\] of the recipe"),
        ("own", SCHEMA.fields, "own is a group; name one of its members: own.site_id, own.risk"),
    ],
)
def test_a_wrong_name_has_a_hint(name: str, among: tuple[Field, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        resolve_field(name, among, "get")
