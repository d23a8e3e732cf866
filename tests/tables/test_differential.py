"""Whatever the column, every row says what ``Engine.lookup`` says of it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import geolookup
from geolookup import tables
from geolookup.tables.locate import CHUNK
from tests import strategies
from tests.near_addresses import near_addresses
from tests.tables import columns
from tests.tiers import scaled

_RANDOMS = st.randoms(use_true_random=False)
_PUBLIC = st.sampled_from(
    (0x08080808, 0x0B000001, 0x0B000102, 0x0B000201, 0x14000001, 0x0A000001, 0xFFFFFFFF, 0)
)
_IPV6 = st.sampled_from((0x20014860 << 96, 0x2A020001 << 96, 0x2A03 << 112, 1, 0xFFFF08080808))
_NUMBERS = _PUBLIC | strategies.ipv4_values
_KNOWN = st.sampled_from(("8.8.8.8", "11.0.0.9", "11.0.1.0", "2a03::1", "2A02:1::", "10.0.0.1"))


def _texts(values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Leave out what is no UTF-8, for no Arrow column holds it."""
    return values.map(lambda text: text.encode("utf-8", "replace").decode())


_BYTES4 = _NUMBERS.map(lambda number: number.to_bytes(4))
_BYTES16 = (_IPV6 | strategies.ipv6_values).map(lambda number: number.to_bytes(16))
_SOURCES: tuple[tuple[dict[str, pa.DataType], st.SearchStrategy[Any], columns.Asked], ...] = (
    (columns.TEXTS, _KNOWN | _texts(strategies.texts), columns.of_texts),
    (columns.NUMBERS, _NUMBERS, columns.of_numbers),
    (columns.BYTES, _BYTES4 | _BYTES16 | st.binary(max_size=20), columns.of_bytes),
    ({"binary of 4": pa.binary(4)}, _BYTES4, columns.of_bytes),
    ({"binary of 16": pa.binary(16)}, _BYTES16, columns.of_bytes),
)
_CASES = [
    pytest.param(kind, values, asked, id=name)
    for kinds, values, asked in _SOURCES
    for name, kind in kinds.items()
]


@pytest.mark.parametrize(("kind", "values", "asked"), _CASES)
def test_every_field_of_every_type(
    state: Any,
    engine: geolookup.Engine,
    kind: pa.DataType,
    values: st.SearchStrategy[Any],
    asked: columns.Asked,
) -> None:
    @settings(max_examples=scaled(3, 30))
    @given(drawn=st.lists(st.none() | values, max_size=12), rng=_RANDOMS)
    def check(drawn: Sequence[Any], rng: random.Random) -> None:
        column = columns.chunked(drawn, kind, rng)
        table = tables.enrich(
            state, pa.table({"address": column}), "address", columns.EVERYTHING, at=columns.AT
        )
        table.validate(full=True)
        found = table.drop_columns("address").to_pydict()
        columns.assert_equal(found, columns.expected(engine, asked(drawn)))

    check()


def _near(engine: geolookup.Engine, count: int, seed: int) -> list[str]:
    texts = near_addresses(random.Random(seed), engine._open_state().dataset)
    return [next(texts).encode("utf-8", "replace").decode() for _ in range(count)]


def test_many_rows(state: Any, engine: geolookup.Engine) -> None:
    drawn = _near(engine, scaled(3_000, 30_000), 7)
    wanted = columns.expected(engine, drawn)
    for threads in (1, 3):
        table = tables.enrich(
            state, pa.array(drawn), "", columns.EVERYTHING, at=columns.AT, threads=threads
        )
        columns.assert_equal(table.to_pydict(), wanted)


def test_bounds_of_chunks(engine: geolookup.Engine) -> None:
    drawn = ["8.8.8.8", None, "10.0.0.1", "2a03::1", "x", "20.0.0.9", "11.0.0.1"]
    fields = ["error_code", "location.city_name", "network.asn"]
    few = columns.expected(engine, drawn)
    for size in (0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK + 5):
        at = pa.array(np.arange(size) % len(drawn))
        column = pa.array(drawn).take(at)
        for threads in (1, 2, 7):
            found = engine.enrich(column, fields=fields, threads=threads)
            for field in found.schema:
                wanted = pa.array(few[field.name]).take(at)
                assert field_values(found[field.name], wanted).equals(wanted), (size, threads)


def field_values(column: pa.ChunkedArray, wanted: pa.Array) -> pa.Array:
    """Return a column as one array of the type that the expected values have."""
    return column.cast(wanted.type).combine_chunks()


@pytest.mark.long
def test_more_text_than_32_bits_count(engine: geolookup.Engine) -> None:
    """Arrays whose texts lie beyond 2^31 bytes, and a column of more than that in chunks."""
    one = pa.array(["8.8.8.8" + " " * 9_993, "8.8.8.8", None, "2a03::1", "x" * 10_000])
    wide = pa.concat_arrays([one.cast(pa.large_string())] * 110_000)
    assert wide.nbytes > 1 << 31
    narrow = pa.chunked_array([pa.concat_arrays([one] * 55_000)] * 2)
    assert narrow.nbytes > 1 << 31
    few = engine.locate(one).to_pylist()
    for column in (wide, narrow):
        rows = engine.locate(column).to_numpy().reshape(-1, len(few))
        assert (rows == few).all()
