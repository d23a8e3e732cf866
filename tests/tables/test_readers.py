"""Readers: how they are read, in which threads, and what ends them."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

import geolookup
from tests.internals.kernel import state_of
from tests.internals.tables import CHUNK

_FIELDS = ["location.country_code", "network.asn", "error_code"]
_SCHEMA = pa.schema([("ip", pa.string())])


def _batches(counts: list[int], read: list[int] | None = None) -> Iterator[pa.RecordBatch]:
    for at, count in enumerate(counts):
        if read is not None:
            read.append(at)
        texts = ["8.8.8.8", "x", "11.0.0.1"] * (count // 3 + 1)
        yield pa.record_batch([pa.array(texts[:count], pa.string())], schema=_SCHEMA)


def _reader(batches: Iterator[pa.RecordBatch]) -> pa.RecordBatchReader:
    return pa.RecordBatchReader.from_batches(_SCHEMA, batches)


def test_equal_to_the_table(engine: geolookup.Engine) -> None:
    for counts in ([], [0], [0, 0, 5, 0, 1, 0], [1] * 40, [CHUNK + 1, 0, 3 * CHUNK - 1]):
        table = pa.Table.from_batches(_batches(counts), _SCHEMA)
        for threads in (1, 2, 9):
            stream = engine.enrich(_reader(_batches(counts)), _FIELDS, threads=threads)
            wanted = engine.enrich(table, _FIELDS, threads=threads)
            assert stream.read_all() == wanted, (counts, threads)


def new_threads(before: set[threading.Thread]) -> set[threading.Thread]:
    """Return the running threads that did not run before; threads of other tests can end."""
    return set(threading.enumerate()) - before


@pytest.mark.parametrize("threads", [1, 3])
def test_a_stream_is_read_little_by_little(engine: geolookup.Engine, threads: int) -> None:
    read: list[int] = []
    table = engine.enrich(_reader(_batches([10] * 1000, read)), _FIELDS, threads=threads)
    assert read == []
    for _ in range(5):
        table.read_next_batch()
    assert len(read) <= 5 + 2 * threads + 2


def test_an_abandoned_stream_ends_its_threads(engine: geolookup.Engine) -> None:
    before = set(threading.enumerate())
    table = engine.enrich(_reader(_batches([1000] * 100)), _FIELDS, threads=4)
    table.read_next_batch()
    assert new_threads(before)
    table.close()
    del table
    gc.collect()
    assert not new_threads(before)


class SourceError(Exception):
    """An error of a source of batches."""


@pytest.mark.parametrize("threads", [1, 3])
def test_an_error_of_the_source_is_passed_on(engine: geolookup.Engine, threads: int) -> None:
    def broken() -> Iterator[pa.RecordBatch]:
        yield from _batches([10] * 6)
        raise SourceError

    before = set(threading.enumerate())
    table = engine.enrich(_reader(broken()), _FIELDS, threads=threads)
    with pytest.raises(SourceError):
        table.read_all()
    assert not new_threads(before)


@pytest.mark.parametrize("threads", [1, 2])
def test_closing_the_engine_lets_a_stream_finish(dataset_path: Path, threads: int) -> None:
    engine = geolookup.open(dataset_path)
    table = engine.enrich(_reader(_batches([1000] * 20)), _FIELDS, threads=threads)
    table.read_next_batch()
    engine.close()
    assert table.read_all().num_rows == 19_000


def test_a_closed_dataset_is_let_go(dataset_path: Path) -> None:
    engine = geolookup.open(dataset_path)
    engine.enrich(pa.array(["8.8.8.8"]))
    dataset = weakref.ref(state_of(engine).dataset)
    engine.close()
    gc.collect()
    assert dataset() is None
