"""Changes as rows in files: each in a format of tables."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from geolookup.comparison.change_table import ENDS
from geolookup.errors import TableFileError
from geolookup.export.ranges import TYPED
from geolookup.files.byte_streams import open_output
from geolookup.files.row_streams import WriteOptions
from geolookup.files.table_files import known_kind
from geolookup.filesystem.atomic import check_file
from geolookup.parallel import cores
from geolookup.prefixes.texts import address_texts

_SUFFIXES = "write .csv, .jsonl or .parquet"
#: The formats with types for addresses; the others have texts.
_TYPED = ("parquet", "arrow", "arrows")


def write_rows(rows: pa.RecordBatchReader, output: str, *, force: bool = False) -> int:
    """Write a table of changes in the format that the suffix names; return the number of rows.

    In formats of text a range has its ends as texts, ``first`` and ``last``. The file is complete
    or absent. Raises TableFileError for a suffix that names no such format, OutputError if the file
    cannot be written, or exists and ``force`` is not set.
    """
    kind = known_kind(output)
    if kind is None or kind.format.writer is None:
        raise TableFileError(output, "the suffix names no format of tables", _SUFFIXES)
    as_written = _same if kind.format.name in _TYPED else _with_texts
    schema = as_written(pa.record_batch([[]] * len(rows.schema), schema=rows.schema)).schema
    count = 0
    check_file(Path(output), force=force)
    with open_output(output, kind.compression, None, cores(), force=force) as stream:
        sink = kind.format.writer.write(stream, schema, WriteOptions())
        for batch in rows:
            sink.write(as_written(batch))
            count += len(batch)
        sink.close()
    return count


def _same(batch: pa.RecordBatch) -> pa.RecordBatch:
    return batch


def _with_texts(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return rows with the ends of ranges as texts; a batch is of one family."""
    columns = dict(zip(batch.schema.names, batch.columns, strict=True))
    ends = {family: [columns.pop(name) for name in names] for family, names in ENDS.items()}
    family = 4 if len(batch) == 0 or columns["family"][0].as_py() == 4 else 6
    texts = [_texts(family, end) for end in ends[family]]
    named = {"family": columns.pop("family"), **dict(zip(TYPED.names, texts, strict=True))}
    return pa.record_batch({**named, **columns}).replace_schema_metadata(batch.schema.metadata)


def _texts(family: int, addresses: pa.Array) -> pa.Array:
    """Return the texts of addresses, given as the columns of ends have them."""
    if family == 4:
        low = addresses.to_numpy().astype(np.uint64)
        return address_texts(4, np.zeros_like(low), low)
    data = np.frombuffer(addresses.buffers()[1], ">u8").reshape(-1, 2)
    halves = data[addresses.offset :][: len(addresses)].astype(np.uint64)
    return address_texts(6, halves[:, 0], halves[:, 1])
