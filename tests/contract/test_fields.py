"""The fields of an answer, beside types, pages and schema; own columns beside the contract's."""

from __future__ import annotations

import re
from ipaddress import ip_address, ip_network
from typing import Any, get_type_hints

import pytest

import geolookup
from docs import fields as generator
from tests.internals.contract import (
    CONTRACT,
    FIELDS,
    LAYERS,
    MAX_COLUMNS,
    NAMES,
    STATED,
    Field,
    column_members,
    fields,
    own_schema,
    paths,
    resolve_field,
    resolve_fields,
)


def test_the_one_field_that_may_be_absent_comes_first_in_its_row() -> None:
    absent = [field for field in FIELDS if field.optional]
    assert [field.path for field in absent] == ["network.asn"]
    assert fields.in_table(fields.NETWORK)[0] is absent[0]


def test_an_unknown_field_names_the_call_the_nearest_and_no_address() -> None:
    choices = (
        "write a field, such as country or asn, or a group: location, time, currency or network"
    )
    for name, hint in (
        ("contry", "did you mean 'country'?"),
        ("location.city", "did you mean 'location.city_name'?"),
        ("networks", "did you mean 'network'?"),
        ("country, city", "write several texts: 'country', 'city'"),
        ("x", choices),
    ):
        assert str(paths.unknown_field(name, "get")) == f"get: no field {name!r}; {hint}"
    for address in (
        *("8.8.8.8", " 8.8.8.8:443", "8.8.8.0/24", "[2001:4860:4860::8888]:53", "10.0.0.1"),
        *("fe80::1%eth0", "8.8.8.8, 1.1.1.1", "8.8.8.888", " 8.8.8", "2001:db8::g"),
    ):
        text = str(paths.unknown_field(address, "--fields"))
        assert text == f"--fields: an address is not a field; {choices}"
        assert not re.search(r"\d|::", text)
    for other in (0x08080808, b"8.8.8.8", ip_address("8.8.8.8"), ip_network("8.8.8.0/24"), None):
        text = str(paths.unknown_field(other, "get"))
        assert text == "get: a field is a text; write several texts or one list of texts"


# Names of other products.

OTHER_NAMES = {
    "location.country_code": "location.country",
    "country_code": "countryCode country.code country.iso_code iso_code",
    "country": "cc iso",
    "country_name": "country.names.en",
    "region_code": "state",
    "location.city_name": "location_city_name",
    "postal": "zip",
    "postal_code": "postcode",
    "lat": "LAT",
    "longitude": "Longitude",
    "timezone": "TZ tz_name",
    "currency_code": "currencyCode",
    "asn": "autonomous_system_number",
    "organization": "org",
}


def test_a_name_of_another_product() -> None:
    for meant, names in OTHER_NAMES.items():
        for name in names.split():
            text = str(paths.unknown_field(name, "get"))
            assert text == f"get: no field {name!r}; did you mean {meant!r}?"
    for name in ("", "location.", "qwerty", "-"):
        assert paths.path_of_name(name) is None
    listed = [name for entry in fields.ENTRIES for name in entry.other_names.split()]
    assert len(listed) == len(set(listed))  # each leads to one path
    assert not set(listed) & set(fields.PATHS)


# The names of fields in calls and options.

SHORT_NAMES = {
    "continent": "location.continent_code",
    "country": "location.country_code",
    "region": "location.region_name",
    "city": "location.city_name",
    "timezone": "time.zone",
    "lat": "location.latitude",
    "lon": "location.longitude",
    "postal": "location.postal_code",
    "currency_code": "currency.code",
    "currency_name": "currency.name",
    "currency_symbol": "currency.symbol",
}


def test_a_field_has_a_path_a_member_and_a_short_name() -> None:
    names = {
        name: field.path for name in SHORT_NAMES for field in FIELDS if field.short_name == name
    }
    assert names == SHORT_NAMES
    for field in FIELDS:
        for name in field.names:
            assert fields.NAMES[name] == field.path
            assert paths.resolve_fields(name, FIELDS, "get") == (field,)
            assert paths.resolve_field(name, FIELDS, "get") is field
        assert not field.source_column or fields.NAMES[field.source_column] == field.path
    # No two fields share a name, and no field has the name of a group.
    names_of = [field.names for field in FIELDS]
    assert len(fields.NAMES) == sum(map(len, names_of)) + len(fields.GROUPS)
    # As a country's code a user may expect "code", as a city's name "name".
    assert not {"code", "name", "symbol"} & set(fields.NAMES)


def test_groups_are_expanded_and_each_field_is_named_once() -> None:
    resolved = paths.resolve_fields(
        ["asn", "currency", "network.asn", "currency_code", "ip"], FIELDS, "get"
    )
    expected = ["network.asn", "currency.code", "currency.name", "currency.symbol", "ip"]
    assert [field.path for field in resolved] == expected
    assert paths.resolve_fields([], FIELDS, "get") == ()
    assert paths.resolve_fields("error_code", fields.COLUMNS, "get") == (fields.ERROR_CODE,)


def test_a_group_where_one_value_is_needed() -> None:
    assert paths.resolve_field("currency", fields.STORED, "--where").path == "currency.code"
    for group, members in (
        ("time", "timezone"),
        ("network", "asn, asn_organization, isp, organization, connection_type, user_type"),
    ):
        with pytest.raises(ValueError, match="--where: ") as caught:
            paths.resolve_field(group, fields.STORED, "--where")
        text = f"--where: {group} is a group; name one of its members: {members}"
        assert str(caught.value) == text


def test_a_field_that_the_call_does_not_have() -> None:
    stored = "follows from the address or the time, and is not stored"
    for name in ("abbr", "time.abbr", "ip"):
        with pytest.raises(ValueError, match="export: ") as caught:
            paths.resolve_fields([name], fields.STORED, "export")
        assert str(caught.value) == f"export: {name} {stored}"
    with pytest.raises(ValueError, match="get: no field 'error_code'; "):
        paths.resolve_fields(["error_code"], FIELDS, "get")


# ``geolookup.fields()``, and the texts that repeat the entries.

_KINDS: dict[str, Any] = {
    "string": str,
    "strings": list,
    "number": float | int,
    "integer": int,
    "boolean": bool,
    "object": dict,
}


def test_types_pages_and_schema_are_those_of_the_entries() -> None:
    assert generator.main(["--check"]) == 0
    assert all(
        info.meaning and not re.search(r"[\n|]", info.meaning) for info in geolookup.fields()
    )
    for field in FIELDS:
        assert field.example is not None, field.path
        assert not field.words or field.example in field.words


def test_each_value_is_of_its_type(sample: geolookup.Engine) -> None:
    known = set()
    for field in geolookup.fields():
        for ip in ("8.8.8.8", "2001:4860:4860::8888", "1.1.1.1"):
            value = sample.get(ip, field.path, at=0)
            assert value is None or isinstance(value, _KINDS[field.type]), field.path
            known |= {field.path} if value is not None else set()
    assert known == set(fields.PATHS)
    data: Any = sample.lookup("8.8.8.8", at=0)["data"]
    values = sample.get("8.8.8.8", [field.path for field in FIELDS], at=0)
    assert tuple(fields.value_in(data, field) for field in FIELDS) == values


def test_an_answer_has_the_members_of_its_type(sample: geolookup.Engine) -> None:
    answer = sample.lookup("8.8.8.8", at=0)
    assert list(answer) == list(get_type_hints(geolookup.Envelope))
    data: Any = answer["data"]
    assert list(data) == list(get_type_hints(geolookup.Data)) == list(fields.PATHS[:6])
    for kind in (geolookup.Location, geolookup.Time, geolookup.Currency, geolookup.Network):
        assert list(data[kind.__name__.lower()]) == list(get_type_hints(kind))
    assert geolookup.Network.__optional_keys__ == {"asn"}


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
