"""The types of answers and paths state what the contract states."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args, get_type_hints

import geolookup
from geolookup.contract import fields, types

_OBJECTS: dict[str, Any] = {
    "location": geolookup.Location,
    "time": geolookup.Time,
    "currency": geolookup.Currency,
    "network": geolookup.Network,
}


def literals(kind: Any) -> Iterator[str]:
    for each in get_args(kind):
        yield from literals(each) if get_args(each) else [each]


def test_the_literal_paths_are_those_of_the_contract() -> None:
    paths = list(literals(types.FieldPath))
    assert len(paths) == len(set(paths))
    assert set(paths) == set(fields.PATHS)
    assert set(literals(types.ColumnPath)) == {*paths, fields.ERROR_CODE.path}


def test_the_members_are_those_of_the_contract() -> None:
    assert list(get_type_hints(geolookup.Data)) == list(fields.PATHS[:6])
    for group, kind in _OBJECTS.items():
        hints = get_type_hints(kind)
        assert list(hints) == list(fields.members(fields.FIELDS, group))
        optional = {each.member for each in fields.FIELDS if each.optional and each.group == group}
        assert kind.__optional_keys__ == optional


def test_an_answer_has_the_members_of_its_type(sample: geolookup.Engine) -> None:
    answer = sample.lookup("8.8.8.8", at=0)
    assert set(answer) == set(get_type_hints(geolookup.Envelope))
    assert set(answer["data"]) == set(get_type_hints(geolookup.Data))


def test_paths_by_the_type_of_their_values() -> None:
    kinds: list[tuple[Any, set[str]]] = [
        (types.StringPath, {"string"}),
        (types.StringsPath, {"list<item: string>"}),
        (types.NumberPath, {"double"}),
        (types.IntegerPath, {"int64", "int32", "uint32"}),
        (types.BooleanPath, {"bool"}),
    ]
    for kind, arrow in kinds:
        chosen = [each for each in fields.FIELDS if each.type in arrow and each.nullable]
        assert set(literals(kind)) == {each.path for each in chosen}
