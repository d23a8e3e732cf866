"""A table as a stream of blocks, between a reader and a writer.

Strategy: the caller's thread reads raw blocks. Other threads parse a block and do all the work on
its rows, a few blocks in advance. The results are in the order of the file, so errors get the
number of their row when the rows before are counted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from geolookup.contract.address import is_address
from geolookup.errors import ContractError, TableFileError, near_match
from geolookup.files.byte_streams import explain_errors
from geolookup.files.text_blocks import TextError, read_full
from geolookup.filesystem.signatures import START_BYTES, looks_like
from geolookup.parallel import in_order
from geolookup.tables.row_notes import row_of

_R = TypeVar("_R")
#: How columns that are not keys are read: ``as_is`` keeps their text or encoding, for an output
#: of the same format; ``typed`` gives them Arrow types, for another format; ``dropped`` skips them.
Others = Literal["as_is", "typed", "dropped"]
#: The column of whole lines that readers of CSV and JSON lines add for ``as_is``, after the keys.
LINE = "\0line"
#: Malformed lines that a message lists.
_LISTED = 5
#: Of the first and the last number one digit: a search of "1111" does not begin again in it.
_IPV4 = re.compile(r"\d\.\d+\.\d+\.\d")
_OTHER = re.compile(r"[^0-9A-Fa-f:.]+")
#: The options for other delimiters than the comma; a shell does not expand "\t".
_OF_DELIMITERS = {
    ";": "add --delimiter ';'",
    "\t": "add --input-format tsv",
    "|": "add --delimiter '|'",
}


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How to read a file."""

    name: str  # of the file, for messages
    #: the columns that must exist, or paths such as ``request.ip``, and the options that name them
    keys: Mapping[str, str]
    others: Others
    delimiter: str | None = None  # None: the format's own
    header: bool = True  # of CSV: whether the first row names the columns
    log_fields: tuple[str, ...] = ()  # of logs: further columns after the keys


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """How to write a file."""

    delimiter: str | None = None  # None: the format's own
    header: bool = True  # of CSV: whether the first row names the columns
    names: Sequence[str] = ()  # of CSV: the columns in the whole lines of rows


@dataclass(frozen=True, slots=True)
class Block:
    """Rows that are parsed together, and their line numbers, an array of int64.

    Without ``lines``, rows are counted. ``malformed`` are line numbers of a log.
    """

    batch: pa.RecordBatch
    lines: Any = None
    malformed: Any = ()


@dataclass(slots=True)
class Rows:
    """A table as a stream; it can be read once."""

    schema: pa.Schema
    raw: Iterator[Any]  # blocks, read by the caller's thread
    parse: Callable[[Any], Block]  # called by several threads
    total: int | None = None  # rows, if the file states their number in advance
    first: int = 1  # the number of the first row, for messages
    is_log: bool = False  # whether the file can have malformed lines
    names: Sequence[str] = ()  # of CSV: the columns in whole lines
    dropped: set[str] = field(default_factory=set)  # members of JSON without a column
    malformed: int = 0  # lines, counted while the rows are read
    stream: Any = None  # the InputStream of an open file
    format_name: str = ""  # of the file, for messages
    _listed: list[int] = field(default_factory=list)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows; raises TableFileError as ``run`` does."""
        return self.run(lambda batch: batch)

    def run(self, work: Callable[[pa.RecordBatch], _R]) -> Generator[_R, None, None]:
        """Yield the result of ``work`` for each batch, in order; threads compute it in advance.

        Raises TableFileError for a bad file, and for an error of ``work`` about a row, which has a
        ``RowNote`` or is a TextError.
        """

        def step(raw: Any) -> tuple[Block, _R]:
            block = self.parse(raw)
            with row_errors(block.lines):
                return block, work(block.batch)

        passed = self.first
        with (
            explain_errors(self.stream.name, self.format_name, lambda: passed),
            in_order(step, self.raw) as results,
        ):
            for block, result in results:
                self.malformed += len(block.malformed)
                self._listed.extend(block.malformed[: _LISTED - len(self._listed)])
                yield result
                passed += len(block.batch)

    def fraction(self, done: int) -> float | None:
        """Return the part that was read, 0 to 1, after ``done`` rows; None if unknown."""
        part: float | None = done / self.total if self.total else self.stream.fraction()
        return part

    def notes(self) -> list[str]:
        """Return lines about malformed lines and dropped members, after the file was read."""
        notes = []
        if self.malformed:
            numbers = ", ".join(map(str, self._listed))
            more = f" and {self.malformed - _LISTED:,} more" if self.malformed > _LISTED else ""
            word = "line is" if self.malformed == 1 else "lines are"
            notes.append(f"{self.malformed:,} {word} malformed: {numbers}{more}")
        if self.dropped:
            names = ", ".join(sorted(name for name in self.dropped if not holds_address(name)))
            notes.append(f"members that the first 4 MiB lack were dropped: {names}")
        return [f"{self.stream.name}: {note}" for note in notes]


def paths(schema: Iterable[pa.Field]) -> list[str]:
    """Return the names of columns, and the paths of members of columns of objects."""
    names = []
    for column in schema:
        names.append(column.name)
        if pa.types.is_struct(column.type):
            names += [f"{column.name}.{below}" for below in paths(column.type)]
    return names


def column_at(rows: pa.RecordBatch | pa.Table, path: str) -> Any:
    """Return a column by its name, or a member of a column of objects: ``request.ip``."""
    if path in rows.schema.names:
        return rows.column(path)
    name, *members = path.split(".")
    return pc.struct_field(rows.column(name), members)


def holds_address(cell: str) -> bool:
    """Return whether a cell contains an address, also among other words or before a port."""
    return bool(_IPV4.search(cell)) or any(map(is_address, _OTHER.split(cell)))


def check_columns(options: ReadOptions, names: list[str]) -> None:
    """Raise TableFileError if a key is not the name of exactly one column."""
    for key, option in options.keys.items():
        if names.count(key) > 1:
            problem, remedy = f"several columns are named {key!r}", "rename the others"
            raise TableFileError(options.name, problem, remedy)
        if key not in names:
            others = _OF_DELIMITERS if len(names) == 1 else ()
            if option and (delimiter := next((one for one in others if one in names[0]), None)):
                # "id;ip" was read as one name.
                problem, remedy = f"the delimiter is {delimiter!r}", _OF_DELIMITERS[delimiter]
                raise TableFileError(options.name, problem, remedy)
            # A name may be an address if a file lacks its header.
            safe_names = [name for name in names if not holds_address(name)]
            hint = near_match(key, safe_names, argument=option and f"{option} ")
            raise TableFileError(options.name, f"no column {key!r}", hint)


@contextmanager
def row_errors(lines: Any = None) -> Iterator[None]:
    """Turn errors about a value into TextError; ``lines`` are the line numbers of the rows."""
    try:
        yield
    except pa.ArrowException:  # its text may quote a cell
        raise
    except (ContractError, TypeError, ValueError) as error:
        remedy, row = getattr(error, "remedy", "see --help"), getattr(error, "row", row_of(error))
        if isinstance(error, ContractError):
            remedy = "pass --on-invalid null to keep such rows"
        line = None if row is None or lines is None else int(lines[row])
        raise TextError(str(error), remedy, line, row if line is None else None) from error


def begin_text(stream: Any, name: str, format_name: str) -> bytes:
    """Return the first bytes of a text; TableFileError if it begins like another kind of file."""
    begun = read_full(stream, START_BYTES)
    kind = looks_like(begun)
    if kind is not None:
        raise TableFileError(name, f"this looks like {kind.name}, not {format_name}", kind.remedy)
    return begun


def plain_schema(schema: pa.Schema) -> pa.Schema:
    """Return a schema with plain columns for dictionaries: these may change in a file."""
    return pa.schema(
        [
            field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field
            for field in schema
        ],
        schema.metadata,
    )
