"""The registry of formats, and the format that a name or a suffix means."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Protocol

import pyarrow as pa

from geolookup.errors import TableFileError, near_match
from geolookup.files.arrow_ipc import ArrowIpc
from geolookup.files.byte_streams import InputStream
from geolookup.files.delimited import Delimited
from geolookup.files.json_lines import JsonLines
from geolookup.files.lines import PlainList
from geolookup.files.logs import Log, LogLines
from geolookup.files.parquet import Parquet
from geolookup.files.row_streams import ReadOptions, Rows, Sink, WriteOptions
from geolookup.filesystem.unpacking import COMPRESSED, compression


class Reader(Protocol):
    """Reads one format."""

    def read(self, stream: InputStream, wanted: ReadOptions) -> Rows:
        """Return the rows of a stream."""

    def names(self, stream: InputStream, wanted: ReadOptions) -> list[str]:
        """Return the names of the columns, which no key of ``wanted`` limits."""


class Writer(Protocol):
    """Writes one format."""

    def write(self, stream: Any, schema: pa.Schema, wanted: WriteOptions) -> Sink:
        """Return a sink for the rows."""


@dataclass(frozen=True, slots=True)
class Format:
    """A format by its name on the command line."""

    name: str
    suffixes: tuple[str, ...]  # the first is for new files
    reader: Reader
    writer: Writer | None  # None: it is read only

    def is_like(self, other: Format) -> bool:
        """Say whether columns can be passed ``as_is``: CSV and TSV can, Arrow's two formats can."""
        return type(self.reader) is type(other.reader)


_CSV, _TSV, _JSON, _PARQUET = Delimited(","), Delimited("\t"), JsonLines(), Parquet()
_FILE, _STREAM = ArrowIpc(pa.ipc.new_file), ArrowIpc(pa.ipc.new_stream)
FORMATS = {
    each.name: each
    for each in (
        Format("csv", (".csv",), _CSV, _CSV),
        Format("tsv", (".tsv",), _TSV, _TSV),
        Format("jsonl", (".jsonl", ".ndjson"), _JSON, _JSON),
        Format("parquet", (".parquet",), _PARQUET, _PARQUET),
        Format("arrow", (".arrow", ".ipc", ".feather"), _FILE, _FILE),
        Format("arrows", (".arrows",), _STREAM, _STREAM),
        Format("text", (".txt",), PlainList(), None),
        Format("log", (".log",), Log(None), None),
        Format("clf", (), Log(False), None),
        Format("combined", (), Log(True), None),
        Format("lines", (), LogLines(), None),
    )
}
#: A log that was rotated: ``access.log.1``, ``access.log-20261120``.
_ROTATED = re.compile(r"\.log[.-][0-9]+(?=\.|$)")
_OF_SUFFIX = {suffix: each for each in FORMATS.values() for suffix in each.suffixes}


@dataclass(frozen=True, slots=True)
class Kind:
    """A format and its compression."""

    format: Format
    compression: str | None  # the ending that names it


def known_kind(path: str) -> Kind | None:
    """Return the kind that a file's suffixes name, None where they name none."""
    packing = compression(path)
    name = PurePath(path).name.lower().removesuffix(packing or "")
    table_format = _OF_SUFFIX.get(PurePath(_ROTATED.sub(".log", name)).suffix)
    return Kind(table_format, packing) if table_format else None


def kind_of(path: str, format_name: str | None, option: str) -> Kind:
    """Return the kind of a file; a format that is named decides over the suffix.

    Raises TableFileError for an unknown suffix, ValueError for an unknown format;
    ``option`` is the one that names a format.
    """
    if format_name is not None:
        if format_name not in FORMATS:
            raise ValueError(f"no format {format_name!r}; {near_match(format_name, FORMATS)}")
        return Kind(FORMATS[format_name], compression(path))
    found = known_kind(path)
    if found is None:
        known = " ".join(_OF_SUFFIX)
        raise TableFileError(path, f"its suffix is none of {known}", f"name its format by {option}")
    return found


def renamed(path: PurePath, target: Format) -> PurePath:
    """Return a file's name in another format, without compression."""
    while path.suffix.lower() in (*COMPRESSED, *_OF_SUFFIX):
        path = path.with_suffix("")
    return path.with_name(path.name + target.suffixes[0])
