"""Parquet: a folder for each family, of files with row groups in address order.

A reader compares an address with the least ``first`` and the greatest ``last`` of each row group,
and reads one of them. IPv4 addresses are uint32, IPv6 addresses 16 bytes in network order.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

import pyarrow as pa

from geolookup.dataset.files import Dataset
from geolookup.export.formats import Counts, Values
from geolookup.export.ranges import TYPED_FORMS, FieldRanges, origin
from geolookup.files.parquet import GroupSink
from geolookup.filesystem.atomic import fsync
from geolookup.progress import Progress

#: Rows after which a row group ends, and a file.
_GROUP, _FILE = 1 << 16, 1 << 20


def write(dataset: Dataset, target: Path, values: Values, progress: Progress) -> Counts:
    """Write the folders ``ipv4`` and ``ipv6``; see ``formats.Write``."""
    ranges = FieldRanges(dataset, values, progress, TYPED_FORMS)
    about = {"geolookup": json.dumps(origin(dataset), ensure_ascii=False)}
    count = 0
    for family in ranges.families:
        folder = target / f"ipv{family}"
        folder.mkdir()
        schema = ranges.schema(family).with_metadata(about)
        count += _write_files(folder, schema, ranges.batches(family))
        fsync(folder)
    return {ranges.form.counted: count}


def _write_files(folder: Path, schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> int:
    """Write at least one file: a family without rows has its columns."""
    number, count, first = 0, 0, next(batches, None)
    # One batch is read ahead: whether a file is the last one is known before it is begun.
    while first is not None or not number:
        path = folder / f"part-{number:05}.parquet"
        count += _write_file(path, schema, chain([first] if first else [], batches))
        fsync(path)
        number, first = number + 1, next(batches, None)
    return count


def _write_file(path: Path, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> int:
    """Write a file of batches until it is full; return its rows."""
    count = 0
    with pa.OSFile(str(path), "wb") as stream:
        sink = GroupSink(stream, schema, _GROUP)
        for batch in batches:
            sink.write(batch.replace_schema_metadata(schema.metadata))
            count += len(batch)
            if count >= _FILE:
                break
        sink.close()
    return count
