"""The envelope's JSON Schema: valid, strict enough to refuse, and frozen for version 1.

``golden/envelope.schema.v1.json`` is the schema as it was published; its
digest stands here, so that nobody can change both. Today's schema must say
all that the frozen one says, and may name more members.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

import jsonschema
import pytest

from tests.conftest import ROOT
from tests.envelopes import check, closed, contract_errors, published

FROZEN = ROOT / "tests" / "golden" / "envelope.schema.v1.json"
DIGEST = "6346638ee28e8139d38fe8c1a39c9b7c909bddbfaf97eb42c8ea372de81cd7a0"


def frozen() -> dict[str, Any]:
    schema: dict[str, Any] = json.loads(FROZEN.read_text(encoding="utf-8"))
    return schema


def extends(old: Any, new: Any, key: str = "") -> bool:
    """Say whether a schema says all that an older one says, and at most adds members."""
    if isinstance(old, dict) and isinstance(new, dict):
        same = key in ("properties", "$defs") or old.keys() == new.keys()
        return same and all(each in new and extends(old[each], new[each], each) for each in old)
    if key == "required":
        return set(old) <= set(new)
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return all(extends(*pair) for pair in zip(old, new, strict=True))
    return type(old) is type(new) and bool(old == new)


def test_frozen() -> None:
    assert hashlib.sha256(FROZEN.read_bytes()).hexdigest() == DIGEST
    assert extends(frozen(), published())


def changed(path: str, value: object) -> dict[str, Any]:
    """Return the frozen schema with one thing set, or taken away where the value is None."""
    schema = frozen()
    *parents, last = path.split("/")
    place = schema
    for parent in parents:
        place = place[parent]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return schema


def test_the_freeze_refuses_changes_and_lets_members_be_added() -> None:
    refused: list[tuple[str, object]] = [
        ("$defs/location/properties/city_name", None),
        ("$defs/location/properties/city_name/type", ["string"]),
        ("$defs/location/properties/latitude/type", ["string", "null"]),
        ("$defs/location/required", ["city_name"]),
        ("$defs/network/properties/asn/type", ["number", "null"]),
        ("$defs/network/properties/user_type/enum", ["hosting"]),
        ("$defs/failure/oneOf", []),
        ("$defs/success/properties/error/const", 0),
        ("$defs/time/additionalProperties", False),
        ("$defs/currency", None),
        ("$id", "urn:geolookup:envelope:v2"),
    ]
    for path, value in refused:
        assert not extends(frozen(), changed(path, value)), path
    for path in ("location/properties/suburb", "data/properties/risk", "risk"):
        assert extends(frozen(), changed(f"$defs/{path}", {"type": ["string", "null"]})), path


def test_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(published())
    jsonschema.Draft202012Validator.check_schema(closed(published()))
    assert "additionalProperties" not in json.dumps(published())


def test_the_members_of_envelopes() -> None:
    envelope = ["success", "data", "error", "error_code", "error_message"]
    data = ["ip", "ip_type", "location", "time", "currency", "network"]
    for name, members in (("data", data), ("success", envelope), ("failure", envelope)):
        definition = published()["$defs"][name]
        assert list(definition["properties"]) == definition["required"] == members


def test_errors_are_those_of_the_code() -> None:
    errors = contract_errors()
    pairs = [each["properties"] for each in published()["$defs"]["failure"]["oneOf"]]
    assert [(p["error_code"]["const"], p["error_message"]["const"]) for p in pairs] == [
        (error.code, error.message) for error in errors
    ]


_FAILURE = {
    "success": False,
    "data": None,
    "error": True,
    "error_code": 10001,
    "error_message": "Invalid IP address format",
}


def test_a_wrong_failure_is_refused() -> None:
    check(_FAILURE)
    for member, value in (
        *(("success", True), ("data", {}), ("error", False), ("error_code", 10002)),
        *(("error_code", 10003), ("error_message", None), ("more", 1)),
    ):
        with pytest.raises(jsonschema.ValidationError):
            check({**_FAILURE, member: value})
