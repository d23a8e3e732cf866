"""The canonical text of a manifest, and the digest of columns, beside slower ways to them."""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from geolookup.dataset.arrow_files import generation
from geolookup.dataset.manifest import Manifest, canonical

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
values = st.recursive(
    scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=30
)


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
    """The generation id of a table with one column."""
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


TEXTS = pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())


@pytest.mark.parametrize("kind", TEXTS, ids=str)
@pytest.mark.parametrize("values", [["é", None, "", "b"], ["a"], [None, None], [None]])
def test_digest_of_texts(values: list[str | None], kind: pa.DataType) -> None:
    assert digest(pa.array(values, kind)) == written(values, "text")
    assert digest(pa.array(["x", *values], kind)[1:]) == written(values, "text")


def test_digest_of_lists_is_that_of_their_texts() -> None:
    stored = pa.array([["a", "b"], None, []], pa.list_(pa.string()))
    assert digest(stored) == written(["a,b", None, ""], "text")
    assert digest(stored[1:2]) == written([None], "text")


NUMBERS = {
    "float64": pa.float64(),
    "uint32": pa.uint32(),
    "uint64": pa.dictionary(pa.int8(), pa.uint64()),
    "uint8": pa.bool_(),
}


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("values", [[1, None, 0], [1], [None, None], [None]])
def test_digest_of_numbers(values: list[int | None], name: str) -> None:
    if name == "uint8":
        stored = pa.array([None if value is None else value == 1 for value in values], pa.bool_())
    else:
        stored = pa.array(values, NUMBERS[name])
    assert digest(stored) == written(values, name)


def test_bytes_of_unknown_texts_do_not_count() -> None:
    offsets = pa.py_buffer(np.array([0, 1, 3, 4], np.int32))
    bits = pa.py_buffer(b"\x05")
    stored = pa.StringArray.from_buffers(3, offsets, pa.py_buffer(b"a??b"), bits, 1)
    assert stored.to_pylist() == ["a", None, "b"]
    assert digest(stored) == written(["a", None, "b"], "text")
