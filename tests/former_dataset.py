"""Datasets of the former format version, made of current ones.

Their checksums are CRC-32 in ``json_crc32``. Where source rows are kept, the columns of a row lie
in one file, and values are JSON texts.
"""

from __future__ import annotations

import json
import shutil
import zlib
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa

from geolookup.contract import fields
from geolookup.contract.address import MAX
from geolookup.dataset import layout as fmt
from geolookup.dataset.manifest import canonical
from tests.corrupt import forging

_LOW = (1 << 64) - 1


def former(dataset: Path, output: Path) -> Path:
    """Write a dataset as version 1 of the format has it."""
    shutil.copytree(dataset, output)
    document = forging.manifest(dataset)
    if fmt.EXPLAINED_TABLES in document["files"]:
        _replace_explaining(output, document)
    for name in forging.manifest(output)["files"]:
        table = forging.table(output, name)
        if "json" in table.column_names:
            texts = table["json"].combine_chunks().view(pa.binary()).to_pylist()
            sums = pa.array([zlib.crc32(text) for text in texts], pa.uint32())
            at = table.schema.get_field_index(fmt.CHECKSUMS)
            forging.write(output, name, table.set_column(at, "json_crc32", sums))
    forging.rewrite(output, forging.manifest(output) | {"format_version": 1})
    return output


def _replace_explaining(output: Path, document: dict[str, Any]) -> None:
    tables = _explaining({name: forging.table(output, name) for name in fmt.EXPLAINING})
    for name in fmt.EXPLAINING:
        (output / name).unlink()
        del document["files"][name]
    (output / fmt.MANIFEST).write_bytes(canonical(document))
    for name, table in tables.items():
        (output / name).touch()
        forging.write(output, name, table)


def _explaining(now: dict[str, pa.Table]) -> dict[str, pa.Table]:
    parts = now[fmt.EXPLAINED_TABLES].to_pydict()
    rows: list[dict[str, Any]] = [{} for _ in range(parts["row"][-1])]
    intervals = {name: _intervals(now[name], parts, rows) for name in fmt.EXPLAINED.values()}
    for stated in now[fmt.EXPLAINED_RANGES].to_pylist():
        rows[stated.pop("row")] |= stated
    runs = [*now[fmt.EXPLAINED_LINES].to_pylist(), {"row": len(rows)}]
    for run, after in pairwise(runs):
        for at in range(run["row"], after["row"]):
            line = run["line"] and run["line"] + at - run["row"]
            rows[at] |= {"file": run["file"], "line": line}
    numbers = now[fmt.EXPLAINED_NUMBERS]["value"].to_pylist()
    for layer in fields.LAYERS:
        for begin, (first, end) in zip(parts[layer], pairwise(parts["row"]), strict=False):
            for at in range(first, end):
                rows[at][layer] = numbers[begin + at - first] if begin else 0
        rows[0][layer] = 0
    kinds = {"file": pa.uint32(), "line": pa.uint32(), "family": pa.uint8()}
    kinds |= dict.fromkeys(fmt.ENDS, pa.uint64()) | dict.fromkeys(fields.LAYERS, pa.uint32())
    return {
        **intervals,
        fmt.FORMER_ROWS: pa.Table.from_pylist(rows, pa.schema(kinds)),
        fmt.EXPLAINED_FILES: now[fmt.EXPLAINED_FILES],
        fmt.EXPLAINED_VALUES: _texts(now[fmt.EXPLAINED_VALUES]),
    }


def _intervals(now: pa.Table, parts: dict[str, Any], rows: list[dict[str, Any]]) -> pa.Table:
    """Return the intervals of a family with the table of each; add their ranges to the rows."""
    family = 4 if "start" in now.column_names else 6
    tables = []
    for number, (begin, end) in enumerate(pairwise(parts[fmt.EXPLAINED_STARTS[family]]), 1):
        listed = now.slice(begin, end - begin).to_pylist()
        starts = [
            each["start"] if family == 4 else each["start_high"] << 64 | each["start_low"]
            for each in listed
        ]
        for each, (first, after) in zip(listed, pairwise([*starts, MAX[family] + 1]), strict=True):
            halves = first >> 64, first & _LOW, after - 1 >> 64, after - 1 & _LOW
            rows[each["row"]] |= dict(zip(fmt.ENDS, halves, strict=True)) | {"family": family}
        tables += [number] * len(listed)
    return now.add_column(0, "table", pa.array(tables, pa.uint16()))


def _texts(now: pa.Table) -> pa.Table:
    texts = [""]
    for row in now.drop_columns(fmt.CHECKSUMS).to_pylist()[1:]:
        known = {name: value for name, value in row.items() if value is not None}
        whole = {
            name: int(value) if isinstance(value, float) and value.is_integer() else value
            for name, value in known.items()
        }
        texts.append(json.dumps(whole, ensure_ascii=False, separators=(",", ":")))
    return pa.table({"json": pa.array(texts, pa.string()), fmt.CHECKSUMS: now[fmt.CHECKSUMS]})
