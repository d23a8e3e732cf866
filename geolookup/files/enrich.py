"""One file to another, with columns of answers: read, enriched, counted, written, batch by batch.

Strategy: the user's columns go through the engine under numbers for names, so
that theirs and ours cannot be taken for each other, and get their names back
on the way out. The answers' error codes are always asked for, to be counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from geolookup.contract.fields import ERROR_CODE
from geolookup.engine import Engine
from geolookup.errors import ContractError, InvalidAddressError, PrivateAddressError, TableFileError
from geolookup.files.background_writer import written_behind
from geolookup.files.formats import Kind
from geolookup.files.instants import unix_seconds
from geolookup.files.reading import Reading, Rows
from geolookup.files.streams import Incoming, incoming, input_name, outgoing
from geolookup.files.writing import Writing
from geolookup.tables.fields import of_table

_AT = "at"


@dataclass(frozen=True, slots=True)
class Wishes:
    """What is to be made of every file."""

    column: str  # of the addresses
    fields: tuple[str, ...] | None = None
    prefix: str = ""
    on_invalid: str = "null"
    at: float | None = None  # the instant of all rows, Unix seconds; None: now
    at_column: str | None = None  # or the column that has each row's
    error_code: bool = False
    threads: int | None = None
    delimiter: str | None = None
    infer_types: bool = False
    header: bool = True  # of CSV, read and written

    def paths(self) -> list[str]:
        """Return the fields' paths, spelled out; ValueError for one that is none.

        The error code is apart: it is the last column, if it is wanted.
        """
        return [each.path for each in of_table(self.fields) if each != ERROR_CODE]


@dataclass(slots=True)
class Counts:
    """Rows, and those without an answer by the code that says why."""

    rows: int = 0
    refused: dict[int, int] = field(
        default_factory=lambda: {InvalidAddressError.code: 0, PrivateAddressError.code: 0}
    )

    def add(self, codes: pa.Array) -> None:
        """Count a batch by its error codes."""
        self.rows += len(codes)
        for code in self.refused:
            self.refused[code] += pc.sum(pc.equal(codes, code)).as_py() or 0

    @property
    def invalid(self) -> int:
        """Rows without a well-formed address."""
        return self.refused[InvalidAddressError.code]

    @property
    def private(self) -> int:
        """Rows with a private one."""
        return self.refused[PrivateAddressError.code]


@dataclass(frozen=True, slots=True)
class Place:
    """A file by its path, or standard input or output, and what it is."""

    path: str
    kind: Kind


#: Called after each batch with the fraction of the file that was read, None where unknown.
Step = Callable[[float | None], None]


def enrich_file(
    engine: Engine, source: Place, target: Place, wishes: Wishes, counts: Counts, step: Step
) -> None:
    """Write ``target`` whole or not at all.

    Raises TableFileError for a malformed input, OutputError for an
    output that cannot be written, BrokenPipeError.
    """
    wanted = _reading(source, target, wishes)
    with incoming(source.path, source.kind.compression) as stream:
        rows = source.kind.format.reader.read(stream, wanted)
        before = counts.rows
        answers = _Answers(engine, rows, wishes, wanted.name)
        writer = target.kind.format.writer
        assert writer is not None  # noqa: S101 - the command refuses formats that are read only
        with outgoing(target.path, target.kind.compression) as out:
            sink = writer.write(out, answers.schema, _writing(source, target, wishes))
            with written_behind(sink) as write:
                for batch in answers.batches(counts):
                    write(batch)
                    step(_fraction(stream, rows, counts.rows - before))
            sink.close()


def _reading(source: Place, target: Place, wishes: Wishes) -> Reading:
    keys = [wishes.column, *([wishes.at_column] if wishes.at_column else [])]
    return Reading(
        input_name(source.path),
        tuple(dict.fromkeys(keys)),
        "as_is" if source.kind.format.is_like(target.kind.format) else "typed",
        wishes.delimiter,
        wishes.infer_types,
        wishes.header,
    )


def _writing(source: Place, target: Place, wishes: Wishes) -> Writing:
    same = source.kind.format is target.kind.format
    return Writing(wishes.delimiter if same else None, wishes.header)


def _fraction(stream: Incoming, rows: Rows, done: int) -> float | None:
    return done / rows.total if rows.total else stream.fraction()


class _Answers:
    """The rows of a file with columns of answers behind them."""

    def __init__(self, engine: Engine, rows: Rows, wishes: Wishes, name: str) -> None:
        self._rows = rows
        self._wishes = wishes
        self._name = name
        with self._explained():
            self._reader = self._enriched(engine)
        enriched = list(self._reader.schema)
        first = len(enriched) - len(wishes.paths()) - 1
        #: the numbers of the columns that are written; the last of all are the error codes
        kept = range(first, len(enriched) - (not wishes.error_code))
        self._written = [*range(len(rows.schema)), *kept]
        made = [enriched[at] for at in kept]
        self._check_names([each.name for each in made])
        self.schema = pa.schema([*rows.schema, *made], rows.schema.metadata)

    def _enriched(self, engine: Engine) -> Any:
        wishes = self._wishes
        return engine.enrich(
            pa.RecordBatchReader.from_batches(self._numbered_schema(), self._numbered()),
            str(self._rows.schema.names.index(wishes.column)),
            [*wishes.paths(), ERROR_CODE.path],
            prefix=wishes.prefix,
            on_invalid=wishes.on_invalid,
            at=_AT if wishes.at_column else wishes.at,
            threads=wishes.threads,
        )

    def _numbered_schema(self) -> pa.Schema:
        """Return the schema with numbers for names, and a column of instants if there is one."""
        fields = [pa.field(str(at), each.type) for at, each in enumerate(self._rows.schema)]
        if self._wishes.at_column:
            given = self._rows.schema.field(self._wishes.at_column).type
            fields.append(pa.field(_AT, unix_seconds(pa.array([], given)).type))
        return pa.schema(fields)

    def _numbered(self) -> Iterator[pa.RecordBatch]:
        schema = self._numbered_schema()
        for batch in self._rows.batches:
            columns = batch.columns
            if self._wishes.at_column:
                at = batch.schema.names.index(self._wishes.at_column)
                columns = [*columns, unix_seconds(columns[at])]
            yield pa.record_batch(columns, schema=schema)

    def _check_names(self, made: list[str]) -> None:
        twice = set(made) & set(self._rows.schema.names)
        if twice:
            problem = f"there is a column {min(twice)!r} already"
            raise TableFileError(self._name, problem, "give --prefix")

    def batches(self, counts: Counts) -> Iterator[pa.RecordBatch]:
        """Yield what is written, in the order of the rows, and count it."""
        with self._explained():
            for batch in self._reader:
                counts.add(batch.column(batch.num_columns - 1))
                columns = [batch.column(at) for at in self._written]
                yield pa.record_batch(columns, schema=self.schema)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Say of which file the engine complains."""
        try:
            yield
        except ContractError as error:
            remedy = "give --on-invalid null to keep such rows"
            raise TableFileError(self._name, _noted(error), remedy) from error
        except (TypeError, ValueError) as error:
            raise TableFileError(self._name, _noted(error), "see --help") from error


def _noted(error: Exception) -> str:
    """Return an error with the row that its note names."""
    return ", ".join([str(error), *getattr(error, "__notes__", [])])
