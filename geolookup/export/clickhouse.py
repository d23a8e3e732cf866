"""ClickHouse: a dictionary of the layout ``ip_trie``, and the rows that it is loaded from.

Its attributes cannot be null: an unknown text is empty, an unknown number is 0, and unknown
coordinates are ``nan``.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from geolookup.contract.fields import TEXTS
from geolookup.dataset.files import Dataset
from geolookup.export.formats import Counts, Values
from geolookup.export.ranges import PREFIXES, FieldRanges
from geolookup.export.text_rows import ENDS, Syntax, escaped_cells, list_texts, write_rows
from geolookup.filesystem.atomic import fsync_file
from geolookup.progress import Progress

#: Where ClickHouse reads files that a statement names, unless it is configured otherwise.
_FOLDER = "/var/lib/clickhouse/user_files/geolookup"
_ROWS = "prefixes.tsv"
_TYPES = {
    "double": "Float64 default nan",
    "uint32": "UInt32",
    "int64": "Int64",
    "bool": "Bool",
    TEXTS: "Array(String)",
}
_DICTIONARY = """\
create or replace dictionary geolookup ({columns})
primary key network
source(file(path '{path}' format 'TabSeparated'))
layout(ip_trie)
lifetime(0);
"""


def write(dataset: Dataset, target: Path, values: Values, progress: Progress) -> Counts:
    """Write ``dictionary.sql`` and ``prefixes.tsv``; see ``formats.Write``."""
    ranges = FieldRanges(dataset, values, progress)
    rows, statement = target / _ROWS, target / "dictionary.sql"
    with pa.OSFile(str(rows), "wb") as stream:
        count = write_rows(_SYNTAX, ranges, PREFIXES, stream)
    path = f"{values.get('folder', _FOLDER).rstrip('/')}/{_ROWS}"
    statement.write_text(_statement(ranges.columns.schema, path), encoding="utf-8")
    for file in (rows, statement):
        fsync_file(file)
    return {PREFIXES.counted: count}


def _statement(schema: pa.Schema, path: str) -> str:
    fields = [f"{field.name} {_TYPES.get(str(field.type), 'String')}" for field in schema]
    quoted = path.replace("\\", "\\\\").replace("'", "\\'")
    return _DICTIONARY.format(columns=", ".join(["network String", *fields]), path=quoted)


def _array(column: pa.Array) -> pa.Array:
    """Return lists as array literals, with tabs and line ends escaped as in cells."""
    texts = list_texts(column, "[", "'", "]")
    for character, replacement in ENDS.items():
        texts = pc.replace_substring(texts, character.encode(), replacement.encode())
    return texts


def _cells(_names: list[str], columns: list[pa.Array]) -> pa.Array:
    plain = (
        _without_null(column) if pa.types.is_floating(column.type) else column for column in columns
    )
    return escaped_cells(list(plain), _array)


def _without_null(column: pa.Array) -> pa.Array:
    return column.fill_null(float("nan"))


_SYNTAX = Syntax(_cells, b"\t")
