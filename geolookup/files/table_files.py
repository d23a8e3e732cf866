"""Table files by path: their formats, the files of a path, and their rows as a stream."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePath
from typing import Any

import pyarrow as pa

from geolookup.errors import TableFileError, near_match
from geolookup.files.byte_streams import (
    STANDARD,
    InputStream,
    explain_errors,
    input_name,
    open_input,
)
from geolookup.files.delimited import read_delimited, write_delimited
from geolookup.files.json_lines import read_json, write_json
from geolookup.files.lines import read_list
from geolookup.files.logs import LINES, SHAPES, read_log
from geolookup.files.parquet import read_parquet, write_parquet
from geolookup.files.row_streams import (
    ReadOptions,
    Rows,
    WriteOptions,
    column_at,
)
from geolookup.filesystem.unpacking import compression
from geolookup.tables.locate import check_type

#: The options that name columns, for messages.
IP_COLUMN, TIME_COLUMN, AS_OF_COLUMN = "--ip-column", "--local-time-at", "--as-of"
#: A log that was rotated: ``access.log.1``, ``access.log-20261120``.
_ROTATED = re.compile(r"\.log[.-][0-9]+(?=\.|$)")
_Read = Callable[[InputStream, ReadOptions], Rows]
#: Returns an object with ``write`` for batches, and ``close``.
_Write = Callable[[Any, pa.Schema, WriteOptions], Any]


@dataclass(frozen=True, slots=True)
class TableFormat:
    """A format by its name on the command line."""

    name: str
    suffixes: tuple[str, ...]  # the first is for new files
    read: _Read
    write: _Write | None = None  # None: it is read only
    is_text: bool = True


def _delimited(name: str, delimiter: str) -> TableFormat:
    read = partial(read_delimited, delimiter=delimiter)
    write = partial(write_delimited, delimiter=delimiter)
    return TableFormat(name, (f".{name}",), read, write)


FORMATS = {
    table_format.name: table_format
    for table_format in (
        _delimited("csv", ","),
        _delimited("tsv", "\t"),
        TableFormat("jsonl", (".jsonl", ".ndjson"), read_json, write_json),
        TableFormat("parquet", (".parquet",), read_parquet, write_parquet, is_text=False),
        TableFormat("text", (".txt",), read_list),
        TableFormat("log", (".log",), read_log),
        *(TableFormat(shape, (), partial(read_log, shape=shape)) for shape in (*SHAPES, LINES)),
    )
}
_OF_SUFFIX = {suffix: one for one in FORMATS.values() for suffix in one.suffixes}


@dataclass(frozen=True, slots=True)
class TableFile:
    """A table file by its path, or standard input or output; ``packing`` is a compression."""

    path: str
    format: TableFormat
    packing: str | None  # the ending that names it


@dataclass(frozen=True, slots=True)
class AddressColumn:
    """The column of addresses of a table file; the options that commands share."""

    name: str = "ip"
    delimiter: str | None = None  # of CSV; None: the format's own
    header: bool = True  # of CSV: whether the first row names the columns
    clean: bool = False  # whether addresses are cleaned by ``contract.cleaning``


@dataclass(frozen=True, slots=True)
class TimeColumn:
    """The column of the instants of rows; the options that commands share."""

    name: str | None = None  # None: the times of a log; rows of other files have no time
    zone: str | None = None  # the IANA zone of instants without an offset


def known_file(path: str) -> TableFile | None:
    """Return the file of a path whose suffixes name a format, None if they name none."""
    packing = compression(path)
    name = PurePath(path).name.lower().removesuffix(packing or "")
    table_format = _OF_SUFFIX.get(PurePath(_ROTATED.sub(".log", name)).suffix)
    return TableFile(path, table_format, packing) if table_format else None


def table_file(path: str, format_name: str | None, option: str) -> TableFile:
    """Return the file of a path; ``format_name`` takes precedence over the suffix.

    ``option`` is the option that names a format, for messages. Raises TableFileError for an
    unknown suffix, ValueError for an unknown format.
    """
    if format_name is not None:
        if format_name not in FORMATS:
            raise ValueError(f"no format {format_name!r}; {near_match(format_name, FORMATS)}")
        return TableFile(path, FORMATS[format_name], compression(path))
    file = known_file(path)
    if file is None:
        problem = f"the suffix is not one of {' '.join(_OF_SUFFIX)}"
        problem = "a stream has no suffix" if path == STANDARD else problem
        raise TableFileError(path, problem, f"name the format by {option}")
    return file


def table_files(path: str, format_name: str | None) -> Iterator[TableFile]:
    """Yield the file that a path names, or the table files of a folder.

    They are in order, without hidden ones. ``format_name`` takes precedence over the suffix of a
    file. Standard input is a list of addresses by default. Raises TableFileError for an unknown
    suffix.
    """
    if os.path.isdir(path):  # noqa: PTH112 - unlike pathlib it takes any name
        for parent, folders, names in os.walk(path):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            paths = (f"{parent}{os.sep}{name}" for name in sorted(names) if name[0] != ".")
            yield from filter(None, map(known_file, paths))
    else:
        name = format_name or ("text" if path == STANDARD else None)
        yield table_file(path, name, "--input-format")


def check_other(source: str, output: str) -> None:
    """Raise TableFileError for an output that is the input: by path, symbolic or hard link."""
    with suppress(OSError):  # one of them does not exist
        if source != STANDARD and Path(source).samefile(output):
            raise TableFileError(output, "is the input", "name another file for the output")


@contextmanager
def open_table(file: TableFile, options: ReadOptions) -> Iterator[Rows]:
    """Open a file for reading; raises TableFileError for a file that cannot be read."""
    with open_input(file.path, file.packing) as stream:
        with explain_errors(options.name, file.format.name):
            rows = file.format.read(stream, options)
        rows.stream, rows.format_name = stream, file.format.name
        yield rows


@contextmanager
def open_addresses(
    file: TableFile,
    column: AddressColumn,
    more: Mapping[str, str] | None = None,
    log_fields: tuple[str, ...] = (),
) -> Iterator[Rows]:
    """Open a file to read its column of addresses, ``more`` columns, and ``log_fields`` of a log.

    ``more`` has the option that names each of them; ``column_at`` returns the columns. Raises
    TableFileError for a missing column, and if the type of the first holds no addresses.
    """
    name, keys = input_name(file.path), {column.name: IP_COLUMN, **(more or {})}
    options = ReadOptions(name, keys, "dropped", column.delimiter, column.header, log_fields)
    with open_table(file, options) as rows:
        try:
            check_type(column_at(rows.schema.empty_table(), column.name).type)
        except TypeError as error:
            raise TableFileError(name, str(error), f"name another by {IP_COLUMN}") from error
        yield rows


def column_names(file: TableFile) -> list[str]:
    """Return the names of the columns; raises TableFileError if the file cannot be read."""
    with open_table(file, ReadOptions(file.path, {}, "typed")) as rows:
        return list(rows.schema.names)
