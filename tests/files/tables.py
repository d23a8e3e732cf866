"""Tables of addresses with columns that are easily damaged, and their right answers."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import geolookup

AT = 1795132800
FIELDS = (
    "location.country_code",
    "location.country_languages",
    "location.latitude",
    "location.country_is_eu",
    "time.current_time",
    "network.asn",
    "network.asn_organization",
)
NAMES = [path.replace(".", "_") for path in FIELDS]
ADDRESSES = [
    *("8.8.8.8", "2001:4860:4860::8888", "10.0.0.1", "nonsense", None, "", "1.1.1.1"),
    *("::ffff:8.8.8.8", " 8.8.8.8", "9.9.9.9"),
]
#: Texts that a careless reader or writer changes.
TEXTS = [
    *("007", "1e5", "", None, 'a "quoted" text', "a,b\tc;d", "two\nlines", "true"),
    *("ünï\\code", "NA"),
]


def table() -> pa.Table:
    return pa.table({"note": TEXTS, "ip": ADDRESSES, "date": ["2026-01-02"] * len(TEXTS)})


def answers(engine: geolookup.Engine, addresses: list[str | None]) -> list[dict[str, Any]]:
    """Return the members FIELDS of ``Engine.lookup``, None without an answer."""
    return [_answer(engine.lookup(address, at=AT)["data"]) for address in addresses]


def _answer(data: Any) -> dict[str, Any]:
    actual: dict[str, Any] = {}
    for path, name in zip(FIELDS, NAMES, strict=True):
        group, _, member = path.partition(".")
        actual[name] = None if data is None else data[group].get(member)
    return actual


_PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": lambda data: bytes(pa.Codec("zstd").compress(data, asbytes=True)),
}


def packed(data: bytes, suffix: str) -> bytes:
    return _PACKERS.get(suffix, bytes)(data)


def unpacked(path: Path) -> bytes:
    data = path.read_bytes()
    codec = {".gz": "gzip", ".zst": "zstd"}.get(path.suffix)
    if codec is None:
        return data
    return bytes(pa.CompressedInputStream(pa.BufferReader(data), codec).read())


def written(made: pa.Table, kind: str) -> bytes:
    """Return a table as a file, by other code than ours."""
    return _WRITERS[kind](made)


def read(data: bytes, kind: str) -> list[dict[str, Any]]:
    """Return the rows of a file, by other code than ours; of CSV all values as texts."""
    return _READERS[kind](data)


def _csv(made: pa.Table, delimiter: str = ",") -> bytes:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    writer.writerow(made.schema.names)
    writer.writerows(
        ["" if value is None else value for value in row.values()] for row in made.to_pylist()
    )
    return out.getvalue().encode()


def _json_lines(made: pa.Table) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in made.to_pylist()).encode()


def _parquet(made: pa.Table) -> bytes:
    out = io.BytesIO()
    pq.write_table(made, out, row_group_size=4)
    return out.getvalue()


def _read_csv(data: bytes, delimiter: str = ",") -> list[dict[str, Any]]:
    return list(
        csv.DictReader(io.StringIO(data.decode(), newline=""), delimiter=delimiter, strict=True)
    )


_WRITERS: dict[str, Callable[[pa.Table], bytes]] = {
    "csv": _csv,
    "tsv": lambda made: _csv(made, "\t"),
    "jsonl": _json_lines,
    "parquet": _parquet,
}
_READERS: dict[str, Callable[[bytes], list[dict[str, Any]]]] = {
    "csv": _read_csv,
    "tsv": lambda data: _read_csv(data, "\t"),
    "jsonl": lambda data: [json.loads(line) for line in data.splitlines()],
    "parquet": lambda data: pq.read_table(pa.BufferReader(data)).to_pylist(),
}
KINDS = tuple(_WRITERS)


def as_cells(rows: list[dict[str, Any]]) -> list[dict[str, str]]:
    return [{name: _cell(value) for name, value in row.items()} for row in rows]


def _cell(value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
