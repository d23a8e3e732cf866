"""Datasets that are wrong inside and right outside: files, digests and offsets all agree."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

from tests.internals.dataset import Manifest, canonical, describe, generation, read
from tests.internals.dataset import layout as fmt

Change = Callable[[list[Any]], None]


def put(row: int, value: object) -> Change:
    return lambda values: values.__setitem__(row, value)


def table(dataset: Path, name: str) -> pa.Table:
    return pa.Table.from_batches([read(dataset / name)[0]])


def replaced(dataset: Path, name: str, column: str, change: Change) -> None:
    before = table(dataset, name)
    values = before[column].to_pylist()
    change(values)
    kind = before.schema.field(column).type
    plain = kind.value_type if pa.types.is_dictionary(kind) else kind
    after = pa.array(values, plain)
    if pa.types.is_dictionary(kind):
        after = after.dictionary_encode()
        after = pa.DictionaryArray.from_arrays(
            after.indices.cast(kind.index_type), after.dictionary
        )
    at = before.schema.get_field_index(column)
    write(dataset, name, before.set_column(at, column, after))


def write(dataset: Path, name: str, content: pa.Table) -> None:
    """Replace a file by another table, with its description."""
    columns = [column.combine_chunks() for column in content.columns]
    batch = pa.RecordBatch.from_arrays(columns, schema=content.schema)
    path = dataset / name
    path.unlink()
    with path.open("wb") as stream, pa.ipc.new_file(stream, batch.schema) as writer:
        writer.write_batch(batch)
    document = manifest(dataset)
    document["files"][name] = describe(path)
    rewrite(dataset, document)


def manifest(dataset: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((dataset / fmt.MANIFEST).read_bytes())
    return document


def rewrite(dataset: Path, document: dict[str, Any]) -> None:
    tables = {name: table(dataset, name) for name in document["files"]}
    document["generation"] = generation(Manifest(dataset, document), tables)
    (dataset / fmt.MANIFEST).write_bytes(canonical(document))


def member(dataset: Path, name: str, number: int, text: bytes) -> None:
    """Replace one JSON member of every row but row 0 by a text."""
    rows(dataset, name, lambda row: [*row[:number], text, *row[number + 1 :]])


def rows(dataset: Path, name: str, change: Callable[[list[bytes]], list[bytes]]) -> None:
    """Change the JSON texts of every row but row 0, and make everything else agree."""
    before = table(dataset, name)
    unknown, *stored = before["json"].combine_chunks().view(pa.binary()).to_pylist()
    changed = [unknown, *(b"\n".join(change(row.split(b"\n"))) for row in stored)]
    # Not pa.array: the texts need not be UTF-8.
    texts = pa.array(changed, pa.binary()).view(pa.string())
    after = before.set_column(before.schema.get_field_index("json"), "json", texts)
    write(dataset, name, after)
