"""Canonical texts, digests of columns, and the row codec, beside slower ways to them."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from geolookup.errors import DatasetError
from tests.internals.contract import fields
from tests.internals.dataset import Manifest, generation, rows


def digest(column: pa.Array) -> str:
    return generation(Manifest("manifest.json", {}), {"a": pa.table({"b": column})})


def written(values: list[Any], kind: str, name: str = "a/b") -> bytes:
    """The same of values in Python: their bits, then lengths and texts, or numbers of a type."""
    bits = np.packbits([value is not None for value in values]).tobytes()
    if kind == "string":
        texts = [(value or "").encode() for value in values]
        lengths = np.array([len(text) for text in texts], "<i4")
        content = lengths.tobytes() + b"".join(texts)
    else:
        types = {"double": "<f8", "bool": "u1"}
        content = np.array([value or 0 for value in values], types.get(kind, kind)).tobytes()
    return f"{name}:{kind}:{len(values)}\n".encode() + bits + content


def hashed(*parts: bytes) -> str:
    return hashlib.sha256(b"{}\n" + b"".join(parts)).hexdigest()


def test_digest_of_texts() -> None:
    for values in (["é", None, "", "b"], ["a"], [None, None], [None]):
        assert digest(pa.array(values, pa.string())) == hashed(written(values, "string"))
        assert digest(pa.array(["x", *values])[1:]) == hashed(written(values, "string"))
    # Bytes of unknown texts do not count.
    offsets, bits = pa.py_buffer(np.array([0, 1, 3, 4], np.int32)), pa.py_buffer(b"\x05")
    stored = pa.StringArray.from_buffers(3, offsets, pa.py_buffer(b"a??b"), bits, 1)
    assert stored.to_pylist() == ["a", None, "b"]
    assert digest(stored) == hashed(written(["a", None, "b"], "string"))


def test_digest_of_dictionaries_and_lists() -> None:
    """Values that rows refer to come first; they are not repeated."""
    encoded = pa.array(["b", "a", None, "b"], pa.dictionary(pa.int8(), pa.string()))
    of_values = written(["b", "a"], "string", "a/b/values")
    assert digest(encoded) == hashed(of_values, written([0, 1, None, 0], "int8"))
    lists = pa.array([["a", "b"], None, []], pa.list_(pa.string()))
    of_items = written(["a", "b"], "string", "a/b/items")
    assert digest(lists) == hashed(of_items, written([2, None, 0], "int32"))
    assert digest(lists) != digest(pa.array([["a,b"], None, []], pa.list_(pa.string())))


def test_digest_of_numbers() -> None:
    for kind in (pa.float64(), pa.uint32(), pa.bool_()):
        for values in ([1, None, 0], [1], [None, None], [None]):
            stored = [
                value == 1 if kind == pa.bool_() and value is not None else value
                for value in values
            ]
            assert digest(pa.array(stored, kind)) == hashed(written(values, str(kind))), kind


#: By their fault, the texts of a row of two members.
DAMAGED = {
    "a member more": b'"a"\n"b"\n"c"',
    "a member less": b'"a"',
    "two values in one member": b'"a",1\n"b"',
    "not JSON": b'"a"\n"b',
    "not UTF-8": b'"a"\n"\xff"',
    "nested too deeply": b'"a"\n' + b"[" * 100_000,
    "of another type": b'"a"\n1',
}


def test_a_row_that_is_not_of_the_table_is_damaged() -> None:
    members = fields.in_table("network")[1:3]
    for why, row in DAMAGED.items():
        offsets = memoryview(pa.array([0, len(row), 7, 3], pa.int32()).buffers()[1]).cast("i")
        texts = rows.Texts("x", offsets[:4], memoryview(row), members)
        with pytest.raises(DatasetError, match="row 0 is damaged"):
            raise AssertionError(f"{why}: {texts.values(0)!r}")
    for number, problem in ((2, "row 2 lies outside the file"), (3, "row 3 does not exist")):
        with pytest.raises(DatasetError, match=problem):
            texts.texts(number)
    with pytest.raises(DatasetError, match="no offsets"):
        rows.Texts("x", offsets[:0], memoryview(b""), members)
