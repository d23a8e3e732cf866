"""Table files by path: which files a path names, and their rows and addresses as a stream."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from geolookup.errors import TableFileError
from geolookup.files.byte_streams import STANDARD, InputStream, input_name, open_input
from geolookup.files.formats import Kind, kind_of, known_kind
from geolookup.files.row_streams import ReadOptions, Rows
from geolookup.files.timestamps import remedy_of, unix_seconds
from geolookup.tables.locate import address_reader
from geolookup.tables.times import Instants, instants_of


@dataclass(frozen=True, slots=True)
class TableFile:
    """A table file by its path, or standard input or output, and its format."""

    path: str
    kind: Kind


@dataclass(frozen=True, slots=True)
class AddressColumn:
    """Where the addresses of a table file are; the options that all commands share."""

    name: str = "ip"
    delimiter: str | None = None  # of CSV; None: the format's own
    header: bool = True  # of CSV: whether the first row names the columns
    clean: bool = False  # whether addresses are cleaned as by ``contract.cleaning``


@dataclass(frozen=True, slots=True)
class TimeColumn:
    """Where the instants of rows are; the options that all commands share."""

    name: str | None = None  # None: the times that a log has; other files have none
    zone: str | None = None  # the IANA zone of instants without an offset


@dataclass(frozen=True, slots=True)
class OpenTable:
    """The rows of an open table file."""

    rows: Rows
    stream: InputStream

    def instants(self, batch: pa.RecordBatch, times: TimeColumn, begin: int) -> Instants | None:
        """Return the instants of the rows of a batch; None where the file has none.

        ``begin`` is the number of the first row. Raises TableFileError for an instant that
        cannot be read.
        """
        name = times.name or next(iter(batch.schema.names[1:]), None)
        if name is None:
            return None
        try:
            seconds = unix_seconds(batch.column(name), times.zone, begin)
            return instants_of(seconds, begin)
        except (TypeError, ValueError) as error:
            remedy = remedy_of(error)
            raise self.rows.numbers.refused(self.stream.name, error, remedy) from error

    def fraction(self, done: int) -> float | None:
        """Return the part that was read, 0 to 1, after ``done`` rows; None where unknown."""
        return done / self.rows.total if self.rows.total else self.stream.fraction()

    def malformed(self) -> list[str]:
        """Return a line about the malformed lines of the file, which was read; none without any."""
        found = self.rows.malformed
        return [f"{self.stream.name}: {found.text()}"] if found and found.count else []


@contextmanager
def open_table(file: TableFile, options: ReadOptions) -> Iterator[OpenTable]:
    """Open a file for reading; raises TableFileError for a file that cannot be read."""
    with open_input(file.path, file.kind.compression) as stream:
        yield OpenTable(file.kind.format.reader.read(stream, options), stream)


@contextmanager
def open_addresses(
    file: TableFile, column: AddressColumn, *more: str, times: bool = False
) -> Iterator[OpenTable]:
    """Open a file to read its column of addresses, and ``more`` columns after it.

    With ``times`` those of a log come last. Raises TableFileError for a missing column, and
    where the type of the first holds no addresses.
    """
    name, keys = input_name(file.path), tuple(dict.fromkeys((column.name, *more)))
    options = ReadOptions(
        name, keys, "dropped", column.delimiter, header=column.header, times=times
    )
    with open_table(file, options) as table:
        try:
            address_reader(table.rows.schema.field(column.name).type)
        except TypeError as error:
            raise TableFileError(name, str(error), "name another by --ip-column") from error
        yield table


def column_names(file: TableFile, name: str) -> list[str]:
    """Return the names of the columns; rows that no reader accepts do not matter.

    ``name`` is that of the file in messages. Raises TableFileError where names cannot be read.
    """
    with open_input(file.path, file.kind.compression) as stream:
        return file.kind.format.reader.names(stream, ReadOptions(name, (), "dropped"))


def table_files(path: str, format_name: str | None) -> Iterator[TableFile]:
    """Yield the file that a path names, or the table files of a folder, in order.

    A format that is named decides over the suffix of a file; standard input is
    a list of addresses by default. Raises TableFileError for an unknown suffix.
    """
    if os.path.isdir(path):  # noqa: PTH112 - unlike pathlib it takes any name
        yield from (TableFile(str(each), kind) for each, kind in files_of(Path(path)) if kind)
    else:
        named = format_name or ("text" if path == STANDARD else None)
        yield TableFile(path, kind_of(path, named, "--input-format"))


def check_other(source: str, output: str) -> None:
    """Raise TableFileError for an output that is the input: by path, symbolic or hard link."""
    with suppress(OSError):  # one of them does not exist, or is standard input
        if source != STANDARD and Path(source).samefile(output):
            problem = "is the input"
            raise TableFileError(output, problem, "name another file for the output")


def files_of(folder: Path) -> Iterator[tuple[Path, Kind | None]]:
    """Yield the files of a tree in order, except hidden ones, with their kind where it is known."""
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if not name.startswith("."):
                yield Path(parent, name), known_kind(name)
