"""The envelope's published schema, closed for the tests: ``check`` is given every answer.

The published schema lets unknown members pass, for members may be added within
version 1; here none may be there that it does not name.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
from jsonschema.exceptions import best_match

from geolookup.errors import AddressError, ContractError

#: code: message and status, as the contract has them.
ERRORS = {
    10001: ("Invalid IP address format", 400),
    10002: ("Cannot geolocate private IP", 400),
    20001: ("Missing API key", 401),
    20002: ("Invalid API key", 401),
    30001: ("Rate limit exceeded", 429),
    30002: ("Quota exceeded", 429),
}
SCHEMA = Path(__file__).resolve().parent.parent / "docs" / "envelope.schema.json"


def published() -> dict[str, Any]:
    schema: dict[str, Any] = json.loads(SCHEMA.read_text(encoding="utf-8"))
    return schema


def closed(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema whose objects have no members but those it names."""
    definitions = {
        name: {**definition, "additionalProperties": False}
        for name, definition in schema["$defs"].items()
    }
    return {**schema, "$defs": definitions}


def _without_words(schema: Any) -> Any:
    """Return a schema by members and types only."""
    if isinstance(schema, list):
        return [_without_words(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    words = ("pattern", "enum", "minLength", "minimum", "maximum", "format")
    return {name: _without_words(item) for name, item in schema.items() if name not in words}


@cache
def _typed() -> Any:
    return jsonschema.Draft202012Validator(_without_words(closed(published())))


def check_damaged(answer: Any) -> None:
    """Raise unless the answer of a damaged dataset is right in form.

    An envelope has the contract's members with values of their types. JSON is copied from texts
    that are not read: only its first and last bytes are known.
    """
    if isinstance(answer, bytes):
        assert answer.startswith(b'{"success":')
        assert answer.endswith(b"}")
    else:
        error = best_match(_typed().iter_errors(answer))
        assert error is None, f"{error.json_path}: {error.message}"


@cache
def _validator() -> Any:
    return jsonschema.Draft202012Validator(closed(published()))


def check(answer: Any) -> None:
    """Raise ValidationError unless an envelope is valid against the closed schema."""
    error = best_match(_validator().iter_errors(answer))
    if error is not None:  # without the schema: it has hundreds of lines
        raise jsonschema.ValidationError(f"{error.json_path}: {error.message} in {answer}")


def compact(answer: object) -> bytes:
    """Return what the contract demands as the answer's bytes."""
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def contract_errors() -> list[type[ContractError]]:
    """Return the errors of the contract, in the order of their codes."""
    others = [
        subclass for subclass in ContractError.__subclasses__() if subclass is not AddressError
    ]
    return [*AddressError.__subclasses__(), *others]
