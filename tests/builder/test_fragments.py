"""JSON texts and checksums made by column, beside json and a sum of one value at a time."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from geolookup_builder.fragments import checksums, json_texts, rows
from hypothesis import example, given
from hypothesis import strategies as st

from geolookup.dataset.crc32c import crc32c
from geolookup.errors import BuildError

texts = st.lists(st.none() | st.text(), min_size=1)


@given(texts)
@example([chr(code) for code in range(0x300)] + ["\u2028", "\u2029", "\ufeff", "\U0001f600"])
def test_strings(values: list[str | None]) -> None:
    found = json_texts(pa.array(values, pa.string()), absent="nothing").to_pylist()
    assert found == [
        "nothing" if value is None else json.dumps(value, ensure_ascii=False) for value in values
    ]


@given(st.lists(st.floats(-180, 180).map(lambda value: value + 0.0), min_size=1))
@example([0.0, 1e-7, 1e-5, 0.1, -33.8688, 151.2093, 5e-324, 1 / 3, 179.99999999999997, 100.0])
def test_floats_are_the_shortest_that_read_back(values: list[float]) -> None:
    for value, text in zip(values, json_texts(pa.array(values)).to_pylist(), strict=True):
        assert json.loads(text) == value
        assert text == json.dumps(int(value) if value.is_integer() else value)


@given(st.lists(st.none() | st.integers(0, (1 << 32) - 1), min_size=1))
def test_integers(values: list[int | None]) -> None:
    found = json_texts(pa.array(values, pa.uint32()), absent="").to_pylist()
    assert found == ["" if value is None else str(value) for value in values]


@given(texts)
@example(["x" * length for length in (0, 1, 511, 512, 513, 2000)])
@example([None, "é" * 256, "é" * 257])
def test_checksums(values: list[str | None]) -> None:
    array = pa.array([value or "" for value in values], pa.string())
    assert checksums(array).tolist() == [crc32c((value or "").encode()) for value in values]
    assert checksums(array[1:]).tolist() == checksums(array).tolist()[1:]


def test_rows_are_joined_by_line_feeds_up_to_2_gib(monkeypatch: pytest.MonkeyPatch) -> None:
    one = json_texts(pa.array(["a\nb", None], pa.string()))
    assert rows([one, json_texts(pa.array([1, 2]))]).to_pylist() == ['"a\\nb"\n1', "null\n2"]
    monkeypatch.setattr(pc, "binary_join_element_wise", lambda *texts: len(texts))
    column = pa.array(["x" * (1 << 20)], pa.string())
    assert rows([column] * 2047) == 2048
    with pytest.raises(BuildError, match="more than 2 GiB"):
        rows([column] * 2048)
