"""What every format's reader is asked for and gives back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

import pyarrow as pa

from geolookup.errors import TableFileError, near_match

#: What becomes of the columns that are not ours: passed through as they are written in the file,
#: read with types (for a file of another format), or left out.
Rest = Literal["as_is", "typed", "dropped"]
#: The column of whole lines that the JSON lines reader gives for ``as_is``; members of the columns
#: before it are in the line already, those of columns behind it are new.
LINE = "\0line"
_ROW = re.compile(r"[Rr]ow #?(\d+)")


@dataclass(frozen=True, slots=True)
class Reading:
    """How a file is to be read."""

    name: str  # of the file, for messages
    keys: tuple[str, ...]  # the columns that must be there
    rest: Rest
    delimiter: str | None = None  # None: the format's own
    infer_types: bool = False
    header: bool = True  # of CSV: whether the first row names the columns


@dataclass(frozen=True, slots=True)
class Rows:
    """A table as a stream; it is read once."""

    schema: pa.Schema
    batches: Iterator[pa.RecordBatch]
    total: int | None = None  # rows, where the file says so beforehand


def check_columns(name: str, present: Iterable[str], wanted: Iterable[str]) -> None:
    """Raise TableFileError where a column that is wanted is missing or there twice."""
    names = list(present)
    for each in wanted:
        if names.count(each) > 1:
            raise TableFileError(name, f"column {each!r} is there twice", "rename one of them")
        if each not in names:
            raise TableFileError(name, f"no column {each!r}", near_match(each, names))


@contextmanager
def explained(name: str, what: str) -> Iterator[None]:
    """Turn what Arrow says of a bad file into one line that holds nothing of the file's content."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or _first_line(error)
        raise TableFileError(name, f"cannot be read ({reason})", "is it whole?") from error
    except pa.ArrowException as error:
        found = _ROW.search(str(error))
        row = int(found[1]) if found else None
        raise TableFileError(name, f"is damaged or no {what}", "is it whole?", row=row) from error


def _first_line(error: OSError) -> str:
    return str(error).partition("\n")[0][:100]


def explained_batches(
    batches: Iterable[pa.RecordBatch], name: str, what: str
) -> Iterator[pa.RecordBatch]:
    """Yield batches, with what goes wrong on the way ``explained``."""
    with explained(name, what):
        yield from batches


def decoded(schema: pa.Schema) -> pa.Schema:
    """Return a schema with plain columns where dictionaries were, which may change in a file."""
    return pa.schema(
        [
            each.with_type(each.type.value_type) if pa.types.is_dictionary(each.type) else each
            for each in schema
        ],
        schema.metadata,
    )
