"""A table as a stream of record batches, between a reader and a writer."""

from __future__ import annotations

import errno
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from geolookup.contract.address import is_address
from geolookup.errors import TableFileError, near_match
from geolookup.files.text_blocks import TextError
from geolookup.filesystem.signatures import START_BYTES, looks_like
from geolookup.filesystem.unpacking import DAMAGE
from geolookup.tables.row_notes import row_of

#: How columns that are not keys are read: ``as_is`` keeps their text or encoding, for an output
#: of the same format; ``typed`` gives them Arrow types, for another format; ``dropped`` skips them.
Others = Literal["as_is", "typed", "dropped"]
#: The column of whole lines that readers of CSV and JSON lines add for ``as_is``, after the keys.
#: The columns after it are new.
LINE = "\0line"
#: Blocks of lines whose numbers are kept, and malformed lines that a message lists.
_BLOCKS, _LISTED = 64, 5
#: Of the first and the last number one digit: a search of "1111" does not begin again in it.
_IPV4 = re.compile(r"\d\.\d+\.\d+\.\d")
_OTHER = re.compile(r"[^0-9A-Fa-f:.]+")
_ROW = re.compile(r"[Rr]ow #?(\d+)")
#: The options for other delimiters than the comma; a shell does not expand "\t".
_OF_DELIMITERS = {
    ";": "add --delimiter ';'",
    "\t": "add --input-format tsv",
    "|": "add --delimiter '|'",
}
#: The beginning of Arrow's errors about a file that may be whole, and their remedy.
NOT_IMPLEMENTED = "Not yet implemented"
OTHER_ENCODINGS = "write it with other encodings, or as CSV"


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How to read a file."""

    name: str  # of the file, for messages
    keys: tuple[str, ...]  # the columns that must exist, or paths such as ``request.ip``
    others: Others
    delimiter: str | None = None  # None: the format's own
    header: bool = True  # of CSV: whether the first row names the columns
    log_fields: tuple[str, ...] = ()  # of logs: further columns after the keys
    key_options: Mapping[str, str] = field(default_factory=dict)  # the option that names a key


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """How to write a file."""

    delimiter: str | None = None  # None: the format's own
    header: bool = True  # of CSV: whether the first row names the columns
    names: Sequence[str] = ()  # of CSV: the columns in the whole lines of rows


class RowNumbers:
    """The number of each row in its file, for messages: from ``first`` on, or as added."""

    def __init__(self, first: int = 1) -> None:
        self._first = first
        self._rows = 0
        #: the rows before each of the last blocks, and the line numbers in it
        self._blocks: deque[tuple[int, Any]] = deque(maxlen=_BLOCKS)

    def add(self, numbers: Any) -> None:
        """Add the line numbers of the next rows, an array of int64."""
        self._blocks.append((self._rows, numbers))
        self._rows += len(numbers)

    def of(self, row: int) -> int:
        """Return the number of a row; ``row`` is counted from 0."""
        for before, numbers in reversed(self._blocks):
            if row >= before:
                return int(numbers[row - before])
        return self._first + row


@dataclass(slots=True)
class MalformedLines:
    """The malformed lines of a file: their number, and the first line numbers."""

    count: int = 0
    first: list[int] = field(default_factory=list)

    def add(self, numbers: Any) -> None:
        """Add line numbers."""
        self.count += len(numbers)
        self.first += numbers[: max(_LISTED - len(self.first), 0)].tolist()

    def text(self) -> str:
        """Return a sentence about them; ``count`` is at least 1."""
        numbers = ", ".join(map(str, self.first))
        more = f" and {self.count - len(self.first):,} more" if self.count > _LISTED else ""
        word = "line is" if self.count == 1 else "lines are"
        return f"{self.count:,} {word} malformed: {numbers}{more}"


@dataclass(frozen=True, slots=True)
class Rows:
    """A table as a stream; it can be read once."""

    schema: pa.Schema
    batches: Iterator[pa.RecordBatch]
    total: int | None = None  # rows, if the file states their number in advance
    numbers: RowNumbers = field(default_factory=RowNumbers)
    malformed: MalformedLines | None = None  # of a log, filled in while the rows are read
    dropped: set[str] = field(default_factory=set)  # members of JSON without a column
    names: Sequence[str] = ()  # of CSV: the columns in whole lines
    stream: Any = None  # the InputStream of an open file

    def fraction(self, done: int) -> float | None:
        """Return the part that was read, 0 to 1, after ``done`` rows; None if unknown."""
        part: float | None = done / self.total if self.total else self.stream.fraction()
        return part

    def error(self, error: Exception, remedy: str) -> TableFileError:
        """Return an error that names the file, and the row if a note has it."""
        row = row_of(error)
        number = None if row is None else self.numbers.of(row)
        return TableFileError(self.stream.name, str(error), remedy, row=number)

    def notes(self) -> list[str]:
        """Return lines about malformed lines and dropped members, after the file was read."""
        notes = [self.malformed.text()] if self.malformed and self.malformed.count else []
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
    for key in options.keys:
        if names.count(key) > 1:
            problem, remedy = f"several columns are named {key!r}", "rename the others"
            raise TableFileError(options.name, problem, remedy)
        if key not in names:
            option = options.key_options.get(key, "")
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
def explain_errors(name: str, kind: str) -> Iterator[None]:
    """Turn Arrow's errors about a bad file into one line that quotes no content of the file."""
    try:
        yield
    except TextError as error:
        raise TableFileError(name, error.problem, error.remedy, row=error.line) from error
    except (OSError, *DAMAGE) as error:
        reason = getattr(error, "strerror", None) or str(error).partition("\n")[0][:100]
        remedy = OTHER_ENCODINGS if reason.startswith(NOT_IMPLEMENTED) else "is it whole?"
        # Decompressors set no errno; EINVAL comes from an offset that a damaged file states.
        if getattr(error, "errno", None) not in (None, errno.EINVAL):
            remedy = "check its name and permissions"
        raise TableFileError(name, f"cannot be read ({reason})", remedy) from error
    except MemoryError:  # Arrow's is an ArrowException too
        raise
    except pa.ArrowException as error:
        row_match = _ROW.search(str(error))
        row = int(row_match[1]) if row_match else None
        raise TableFileError(name, f"is damaged or not {kind}", "is it whole?", row=row) from error


def explained_batches(
    batches: Iterable[pa.RecordBatch], name: str, kind: str
) -> Iterator[pa.RecordBatch]:
    """Yield batches; ``explain_errors`` turns errors on the way into lines."""
    with explain_errors(name, kind):
        yield from batches


def check_kind(name: str, start: bytes, format_name: str) -> None:
    """Raise TableFileError if a text begins like another kind of file."""
    kind = looks_like(start[:START_BYTES])
    if kind is not None:
        raise TableFileError(name, f"this looks like {kind.name}, not {format_name}", kind.remedy)


def plain_schema(schema: pa.Schema) -> pa.Schema:
    """Return a schema with plain columns for dictionaries: these may change in a file."""
    return pa.schema(
        [
            field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field
            for field in schema
        ],
        schema.metadata,
    )
