"""Parquet in every encoding, read by the one reader of enrich, summarize, diff and score."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from tests import parquet_encodings
from tests.internals.files import (
    ReadOptions,
    open_table,
    table_file,
)
from tests.parquet_encodings import TABLE, WRITTEN_AS
from tests.tiers import one_of_each


def read(path: Path) -> pa.Table:
    options = ReadOptions(path.name, ("network",), "typed")
    with open_table(table_file(str(path), None, ""), options) as rows:
        return pa.Table.from_batches(rows.batches(), rows.schema)


@pytest.mark.parametrize("name", one_of_each(WRITTEN_AS, lambda name: name.split(", ")[0]))
def test_what_arrow_writes(tmp_path: Path, name: str) -> None:
    parquet_encodings.by_arrow(tmp_path / "a.parquet", name)
    assert read(tmp_path / "a.parquet").equals(TABLE)
