"""The writer of Parquet files that is left before the footer."""

from __future__ import annotations

import gc
import io
import sys

import pyarrow as pa
import pytest

from geolookup.files.parquet import GroupSink


def test_a_sink_that_is_abandoned_writes_nothing_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """As after an error or a signal: its stream is closed, and nothing is reported."""
    reported: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", reported.append)
    monkeypatch.setattr("geolookup.files.parquet._GROUP_ROWS", 10)
    batch = pa.record_batch({"ip": ["8.8.8.8"] * 10})
    stream = io.BytesIO()
    sink = GroupSink(stream, batch.schema)
    sink.write(batch)
    stream.close()
    del sink
    gc.collect()
    assert reported == []
