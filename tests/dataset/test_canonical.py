"""Canonical texts, digests of columns, and the row codec, beside slower ways to them."""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from geolookup.errors import DatasetError
from tests.internals.contract import fields
from tests.internals.dataset import Manifest, canonical, generation, rows
from tests.tiers import scaled

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
values = st.recursive(
    scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=30
)


@settings(max_examples=scaled(10, 100))
@given(st.dictionaries(st.text(), values))
@example(
    {"a": [], "b": {}, "c": [[[0, 8], None], {"é\n": [math.inf, True, -0.0, 1e-7]}], "": ([1], ())}
)
def test_canonical_text_is_that_of_json(stated: dict[str, Any]) -> None:
    try:
        expected = json.dumps(stated, ensure_ascii=False, indent=1, sort_keys=True).encode() + b"\n"
    except UnicodeEncodeError:  # a lone surrogate
        with pytest.raises(UnicodeEncodeError):
            canonical(stated)
    else:
        assert canonical(stated) == expected


def digest(column: pa.Array) -> str:
    return generation(Manifest("manifest.json", {}), {"a": pa.table({"b": column})})


def written(values: list[Any], name: str) -> str:
    """The same of values in Python: their bits, then texts by length, or numbers of a type."""
    bits = np.packbits([value is not None for value in values]).tobytes()
    if name == "text":
        texts = [(value or "").encode() for value in values]
        lengths = np.array([len(text) for text in texts], "<i8")
        content = lengths.tobytes() + b"".join(texts)
    else:
        content = np.array([value or 0 for value in values], name).tobytes()
    return hashlib.sha256(
        b"{}\n" + f"a/b:{name}:{len(values)}\n".encode() + bits + content
    ).hexdigest()


def test_digest_of_texts() -> None:
    for kind in (pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())):
        for values in (["é", None, "", "b"], ["a"], [None, None], [None]):
            assert digest(pa.array(values, kind)) == written(values, "text"), kind
            assert digest(pa.array(["x", *values], kind)[1:]) == written(values, "text"), kind
    lists = pa.array([["a", "b"], None, []], pa.list_(pa.string()))
    assert digest(lists) == written(["a,b", None, ""], "text")
    assert digest(lists[1:2]) == written([None], "text")
    # Bytes of unknown texts do not count.
    offsets, bits = pa.py_buffer(np.array([0, 1, 3, 4], np.int32)), pa.py_buffer(b"\x05")
    stored = pa.StringArray.from_buffers(3, offsets, pa.py_buffer(b"a??b"), bits, 1)
    assert stored.to_pylist() == ["a", None, "b"]
    assert digest(stored) == written(["a", None, "b"], "text")


def test_digest_of_numbers() -> None:
    for name, kind in {
        "float64": pa.float64(),
        "uint32": pa.uint32(),
        "uint64": pa.dictionary(pa.int8(), pa.uint64()),
        "uint8": pa.bool_(),
    }.items():
        for values in ([1, None, 0], [1], [None, None], [None]):
            stored = [
                value == 1 if kind == pa.bool_() and value is not None else value
                for value in values
            ]
            assert digest(pa.array(stored, kind)) == written(values, name), name


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
