"""Columns of addresses, of every Arrow type that can hold them, and the answers of lookups."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from ipaddress import IPv4Address, ip_address
from typing import Any

import pyarrow as pa

import geolookup
from tests import own
from tests.internals.contract import PATHS

AT = 1_795_132_800
#: The columns that ``enrich`` makes by default, those of ``tests.own``, and all, by path.
DEFAULT = ("ip_type", *(path for path in PATHS if "." in path))
OWN = tuple(f"own.{name}" for name in own.NAMES)
EVERYTHING = ("ip", *DEFAULT, *OWN, "error_code")

#: Addresses of the dataset of ``tests.damage`` and others, and their ASNs.
IPS = ["8.8.8.8", "2a00:1::9", None, "10.0.0.1", "x", "9.9.9.9", "8.8.8.8"]
ASNS = [15169, 3215, None, None, None, 19281, 15169]

#: The Arrow types of columns, by name.
TEXTS: dict[str, pa.DataType] = {
    "string": pa.string(),
    "large_string": pa.large_string(),
    "string_view": pa.string_view(),
    "dictionary": pa.dictionary(pa.int32(), pa.string()),
    "dictionary, unsigned": pa.dictionary(pa.uint8(), pa.large_string()),
}
NUMBERS: dict[str, pa.DataType] = {
    "uint32": pa.uint32(),
    "dictionary of numbers": pa.dictionary(pa.int16(), pa.uint32()),
}
BYTES: dict[str, pa.DataType] = {
    "binary": pa.binary(),
    "large_binary": pa.large_binary(),
    "binary_view": pa.binary_view(),
    "dictionary of bytes": pa.dictionary(pa.int8(), pa.binary()),
}


def array(values: Sequence[Any], kind: pa.DataType, rng: random.Random) -> pa.Array:
    """Return values (None is null) as a part of a longer array, with values under its nulls."""
    stuffing = [value for value in values if value is not None]
    if not stuffing:
        return pa.nulls(len(values) + 3, kind).slice(2, len(values))
    around = [rng.choice(stuffing) for _ in range(rng.randrange(4))]
    whole = [*around, *values, *around]
    filled = pa.array([rng.choice(stuffing) if v is None else v for v in whole], _plain(kind))
    hidden = pa.array([v is not None for v in whole]).buffers()[1]
    if None in values:
        filled = _with_nulls(filled, hidden)
    if pa.types.is_dictionary(kind):
        filled = _encoded(filled, kind, rng)
    return filled.slice(len(around), len(values))


def _plain(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _with_nulls(filled: pa.Array, validity: pa.Buffer) -> pa.Array:
    result = pa.Array.from_buffers(filled.type, len(filled), [validity, *filled.buffers()[1:]])
    result.validate(full=True)
    return result


def _encoded(plain: pa.Array, kind: pa.DataType, rng: random.Random) -> pa.Array:
    """Encode; nulls are in the indices, in the dictionary, or in both."""
    if rng.random() < 0.5:
        return plain.dictionary_encode().cast(kind)
    encoded = plain.dictionary_encode("encode")
    return pa.DictionaryArray.from_arrays(encoded.indices.cast(kind.index_type), encoded.dictionary)


def chunked(values: Sequence[Any], kind: pa.DataType, rng: random.Random) -> pa.ChunkedArray:
    """Return values as a column of several arrays, some of them empty."""
    cuts = sorted(rng.randrange(len(values) + 1) for _ in range(rng.randrange(4)))
    bounds = zip([0, *cuts], [*cuts, len(values)], strict=True)
    return pa.chunked_array([array(values[a:b], kind, rng) for a, b in bounds], kind)


def of_texts(values: Sequence[str | None]) -> list[object]:
    """Return the values of a column of texts as arguments of ``lookup``."""
    return list(values)


def of_numbers(values: Sequence[int | None]) -> list[object]:
    return [None if value is None else IPv4Address(value) for value in values]


def of_bytes(values: Sequence[bytes | None]) -> list[object]:
    return [ip_address(v) if v is not None and len(v) in (4, 16) else None for v in values]


def expected(
    engine: geolookup.Engine, addresses: Sequence[object], instants: Sequence[Any] | Any = AT
) -> dict[str, list[Any]]:
    """Return every column by its name, from single lookups."""
    each_own = instants if isinstance(instants, list) else [instants] * len(addresses)
    answers: list[Any] = [
        engine.lookup(address, at=0 if at is None else at)
        for address, at in zip(addresses, each_own, strict=True)
    ]
    for answer, at in zip(answers, each_own, strict=True):
        if at is None and answer["data"]:
            answer["data"]["time"] = {}
    known = {path: [_value(item, path) for item in answers] for path in EVERYTHING}
    rows: list[Any] = engine.get_many(addresses, [*OWN])
    known |= {path: [row[at] for row in rows] for at, path in enumerate(OWN)}
    return {path.replace(".", "_"): values for path, values in known.items()}


def _value(answer: dict[str, Any], path: str) -> Any:
    if path == "error_code":
        return answer["error_code"]
    group, _, member = path.rpartition(".")
    data = answer["data"] or {}
    return (data.get(group, {}) if group else data).get(member)


def assert_equal(actual: dict[str, list[Any]], wanted: dict[str, list[Any]]) -> None:
    """Compare columns; numbers are of one type, but JSON knows no difference of 1.0 and 1."""
    assert actual.keys() == wanted.keys()
    for name, values in actual.items():
        assert values == wanted[name], name
        kinds = {type(value) for value in values} - {type(None)}
        assert len(kinds) <= 1, (name, kinds)
        assert kinds & {bool} == {type(item) for item in wanted[name]} & {bool}, name


Asked = Callable[[Sequence[Any]], list[object]]
