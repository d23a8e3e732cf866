"""Canonical texts, CRC-32C, digests of columns, and the row codec, beside slower ways to them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from itertools import accumulate
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from geolookup.errors import DatasetError
from tests.internals.builder import json_columns, json_texts
from tests.internals.dataset import Manifest, crc32c, generation, rows
from tests.internals.dataset import checksums as python
from tests.internals.kernel import kernel
from tests.kernel.modules import compiled


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


WORDS = ["Zürich", 'a "quoted"\nline', "back\\slash", "\x01\x7f\u2028", None]


#: By their fault, the texts of a row of two members.
DAMAGED = {
    "a member more": b'"a"\n"b"\n"c"',
    "a member less": b'"a"',
    "two values in one member": b'"a",1\n"b"',
    "not JSON": b'"a"\n"b',
    "not UTF-8": b'"a"\n"\xff"',
    "nested too deeply": b'"a"\n' + b"[" * 100_000,
}


def test_a_row_that_is_not_of_the_table_is_damaged() -> None:
    for why, row in DAMAGED.items():
        offsets = memoryview(pa.array([0, len(row)], pa.int32()).buffers()[1]).cast("i")
        sums = memoryview(pa.array([crc32c(row)], pa.uint32()).buffers()[1]).cast("I")
        texts = rows.Texts("x", offsets, memoryview(row), sums, rows.KINDS["network"][1:3])
        with pytest.raises(DatasetError, match="row 0 is damaged"):
            raise AssertionError(f"{why}: {texts[0]!r}")
    kinds = rows.KINDS["network"][1:2]
    made = json_columns([json_texts(pa.array(WORDS))])
    _, offsets, data = (memoryview(buffer or b"") for buffer in made["json"].buffers())
    wrong = memoryview(bytes(20)).cast("I")  # checksums
    texts = rows.Texts("x", offsets.cast("i"), data, wrong, kinds)
    for number, problem in ((1, "row 1 is damaged"), (5, "row 5 does not exist")):
        with pytest.raises(DatasetError, match=problem):
            _ = texts[number]


#: A SCSI Read (10) command PDU.
_READ = bytes.fromhex(
    "01c000000000000000000000000000001400000000000400000000140000001828000000000000000200000000000000"
)
#: Texts and their sums; RFC 3720, section B.4, and the usual check of CRCs, "123456789".
VECTORS = {
    bytes(32): 0x8A9136AA,
    b"\xff" * 32: 0x62A8AB43,
    bytes(range(32)): 0x46DD794E,
    bytes(range(31, -1, -1)): 0x113FDB5C,
    _READ: 0xD9963A56,
    b"123456789": 0xE3069283,
    b"": 0,
}
FORMS: list[Any] = [kernel.checksums, python.checksums]
if kernel.Kernel.kernel == "compiled":
    FORMS.append(compiled._checksums_by_table)


def sums(form: Callable[..., None], texts: list[bytes]) -> list[int]:
    data = np.frombuffer(b"".join(texts), np.uint8)
    offsets = np.array([0, *accumulate(map(len, texts))], np.int32)
    result = np.zeros(len(texts), np.uint32)
    form(data, offsets, result)
    return [int(item) for item in result]


def test_the_vectors_of_the_standard() -> None:
    assert [crc32c(text) for text in VECTORS] == [*VECTORS.values()]
    for form in FORMS:
        assert sums(form, [*VECTORS]) == [*VECTORS.values()]


@given(st.lists(st.binary(max_size=40)))
@example([b"x" * length for length in (0, 1, 7, 8, 9, 511, 512, 513, 2000)])
@example([b"%d" % number * (number % 3) for number in range(python._PART + 100)])
def test_all_forms_agree(texts: list[bytes]) -> None:
    """Also of more texts than are summed together."""
    for form in FORMS:
        assert sums(form, texts) == [crc32c(text) for text in texts]


@pytest.mark.parametrize("form", FORMS)
def test_a_text_outside_the_data(form: Any) -> None:
    for offsets in ([0, 3], [-1, 2], [2, 1], [0, 1, 0], [1, 0, 2]):
        result = np.zeros(len(offsets) - 1, np.uint32)
        with pytest.raises(ValueError, match="outside the data"):
            form(np.zeros(2, np.uint8), np.array(offsets, np.int32), result)
    with pytest.raises(ValueError, match="differ in length"):
        form(np.zeros(2, np.uint8), np.array([0, 1, 2], np.int32), np.zeros(1, np.uint32))
