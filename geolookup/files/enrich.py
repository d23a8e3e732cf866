"""Files with columns of answers after their own columns.

Strategy: rows are read, enriched, counted and written a batch at a time. A thread writes in the
background while the next batches are read and looked up; other threads compress. The user's columns
have numbers as names inside the engine: no new column has such a name. They get their names back on
the way out. The engine always adds error codes, and whether anything is known; both are counted.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from geolookup.contract.fields import ERROR_CODE
from geolookup.engine import Engine
from geolookup.errors import (
    ContractError,
    InvalidAddressError,
    PrivateAddressError,
    TableFileError,
)
from geolookup.files.byte_streams import input_name, open_output
from geolookup.files.delimited import DelimitedText
from geolookup.files.row_streams import ReadOptions, Rows, Sink, WriteOptions
from geolookup.files.table_files import AS_OF_COLUMN, IP_COLUMN, TIME_COLUMN, TableFile, open_table
from geolookup.files.timestamps import remedy_of, unix_seconds
from geolookup.kernel.lookups import state_of
from geolookup.parallel import cores
from geolookup.tables import enrich
from geolookup.tables.generations import RowsWithoutGeneration
from geolookup.tables.take import of_table

if TYPE_CHECKING:
    from geolookup.contract.schema import Schema
    from geolookup.kernel.protocol import State

#: The names of columns of instants beside columns with numbers for names, by the user's name.
_INSTANT = "instant {}"
#: Batches that may wait for the background writer while it writes a row group.
_WAITING = 16
#: Called after each batch with the fraction of the file that was read, None if unknown.
Step = Callable[[float | None], None]


@dataclass(frozen=True, slots=True)
class EnrichOptions:
    """How to enrich every file."""

    column: str  # of the addresses
    fields: tuple[str, ...] = ()  # none: all but ip and error_code
    prefix: str = ""
    on_invalid: str = "null"
    at: int | None = None  # the instant of all rows, Unix seconds; None: now
    time_column: str | None = None  # or the column of each row's instant
    as_of_column: str | None = None  # of instants; the generation in force then answers the row
    time_zone: str | None = None  # the IANA zone of instants without an offset
    clean: bool = False  # whether addresses are cleaned by ``contract.cleaning``
    error_code: bool = False
    threads: int | None = None
    delimiter: str | None = None
    infer_types: bool = False
    header: bool = True  # of CSV, read and written
    compression_level: int | None = None  # of gzip; None: its default

    def paths(self, schema: Schema) -> list[str]:
        """Return the paths of the fields, groups expanded; ValueError for an unknown field.

        The error code is not among them: it is always the last column.
        """
        fields = of_table(self.fields, schema=schema)
        return [field.path for field in fields if field != ERROR_CODE]

    def instants(self) -> dict[str, str]:
        """Return the names of columns of instants inside the engine, by the user's names."""
        names = (self.time_column, self.as_of_column)
        return {name: _INSTANT.format(name) for name in names if name is not None}


@dataclass(slots=True)
class Counts:
    """The number of rows, of located rows, and of refused rows by error code."""

    rows: int = 0
    located: int = 0
    malformed: list[str] = field(default_factory=list)  # a message per file with such lines
    without_generation: RowsWithoutGeneration = field(default_factory=RowsWithoutGeneration)
    refused: dict[int, int] = field(
        default_factory=lambda: {InvalidAddressError.code: 0, PrivateAddressError.code: 0}
    )

    def add(self, codes: pa.Array, is_known: pa.Array) -> None:
        """Count a batch by its error codes, and by whether anything is known."""
        self.rows += len(codes)
        self.located += is_known.true_count
        for code in self.refused:
            self.refused[code] += pc.sum(pc.equal(codes, code)).as_py() or 0

    @property
    def unknown(self) -> int:
        """Rows with a public address about which nothing is known."""
        answered = self.rows - self.without_generation.total
        return answered - self.located - self.invalid - self.private

    @property
    def invalid(self) -> int:
        """Rows without a well-formed address."""
        return self.refused[InvalidAddressError.code]

    @property
    def private(self) -> int:
        """Rows with a private address."""
        return self.refused[PrivateAddressError.code]


class EnrichedRows:
    """The rows of one file, enriched; ``name`` is the file's, for messages."""

    def __init__(
        self,
        engine: Engine,
        rows: Rows,
        options: EnrichOptions,
        name: str,
        without_generation: RowsWithoutGeneration,
    ) -> None:
        self._rows = rows
        self._options = options
        self._name = name
        self._without_generation = without_generation
        self._generations = None if options.as_of_column is None else engine.generations()
        state = state_of(engine)
        with self._explain_errors():
            paths = options.paths(state.dataset.schema)
            self._reader = self._enrich(state, paths)
        enriched = list(self._reader.schema)
        # The last columns are the error codes, and whether anything is known.
        # user's columns | new columns | error code | known
        first, end = len(enriched) - len(paths) - 2, len(enriched) - 1
        #: the numbers of the new columns to write
        new = range(first, end - (not options.error_code))
        self._written = [*range(len(rows.schema)), *new]
        fields = [enriched[at] for at in new]
        self._check_names([field.name for field in fields])
        self.schema = pa.schema([*rows.schema, *fields], rows.schema.metadata)

    def _enrich(self, state: State, paths: list[str]) -> Any:
        options, instants = self._options, self._options.instants()
        return enrich(
            state,
            pa.RecordBatchReader.from_batches(self._numbered_schema(), self._numbered_batches()),
            *paths,
            ERROR_CODE.path,
            column=str(self._rows.schema.names.index(options.column)),
            prefix=options.prefix,
            on_invalid=options.on_invalid,
            at=options.at,
            time_column=instants.get(options.time_column or ""),
            as_of=instants.get(options.as_of_column or ""),
            generations=self._generations,
            without_generation=self._without_generation,
            clean=options.clean,
            add_known=True,
            threads=options.threads,
        )

    def _numbered_schema(self) -> pa.Schema:
        """Return the schema with numbers for names, and the columns of instants."""
        fields = [pa.field(str(at), field.type) for at, field in enumerate(self._rows.schema)]
        for column, name in self._options.instants().items():
            type_ = self._rows.schema.field(column).type
            fields.append(pa.field(name, self._instants(pa.array([], type_), 0).type))
        return pa.schema(fields)

    def _numbered_batches(self) -> Iterator[pa.RecordBatch]:
        schema, before = self._numbered_schema(), 0
        for batch in self._rows.batches:
            columns = batch.columns
            for column in self._options.instants():
                at = batch.schema.names.index(column)
                columns = [*columns, self._instants(columns[at], before)]
            before += len(batch)
            yield pa.record_batch(columns, schema=schema)

    def _instants(self, column: pa.Array, begin: int) -> pa.Array:
        return unix_seconds(column, self._options.time_zone, begin)

    def _check_names(self, new: list[str]) -> None:
        twice = set(new) & {*self._rows.schema.names, *self._rows.in_lines}
        if twice:
            problem = f"column {min(twice)!r} exists already"
            raise TableFileError(self._name, problem, "pass --prefix")

    def batches(self, counts: Counts) -> Iterator[pa.RecordBatch]:
        """Yield the batches to write, in the order of the rows, and count them."""
        with self._explain_errors():
            for batch in self._reader:
                counts.add(*batch.columns[-2:])
                columns = [batch.column(at) for at in self._written]
                yield pa.record_batch(columns, schema=self.schema)

    @contextmanager
    def _explain_errors(self) -> Iterator[None]:
        """Name the file in the engine's errors."""
        try:
            yield
        except ContractError as error:
            remedy = "pass --on-invalid null to keep such rows"
            raise self._rows.numbers.error(self._name, error, remedy) from error
        except (TypeError, ValueError) as error:
            raise self._rows.numbers.error(self._name, error, remedy_of(error)) from error


def enrich_file(
    engine: Engine,
    source: TableFile,
    target: TableFile,
    options: EnrichOptions,
    counts: Counts,
    step: Step,
    *,
    force: bool = True,
) -> None:
    """Write ``target`` completely or not at all; ``force`` replaces an existing file.

    Raises TableFileError for an unusable input, OutputError for an output
    that cannot be written, BrokenPipeError.
    """
    read_options = _read_options(source, target, options)
    with open_table(source, read_options) as table:
        before = counts.rows
        without_generation = counts.without_generation
        answers = EnrichedRows(engine, table.rows, options, read_options.name, without_generation)
        writer = target.kind.format.writer
        assert writer is not None  # noqa: S101 - the command refuses formats that are read only
        with open_output(
            target.path,
            target.kind.compression,
            options.compression_level,
            options.threads or cores(),
            force=force,
        ) as out:
            write_options = _write_options(source, target, options, table.rows.in_lines)
            sink = writer.write(out, answers.schema, write_options)
            with _background_writer(sink) as write:
                for batch in answers.batches(counts):
                    write(batch)
                    step(table.fraction(counts.rows - before))
            sink.close()
        counts.malformed += table.malformed_notes()


def _read_options(source: TableFile, target: TableFile, options: EnrichOptions) -> ReadOptions:
    key_options = {options.column: IP_COLUMN}
    if options.time_column:
        key_options.setdefault(options.time_column, TIME_COLUMN)
    if options.as_of_column:
        key_options.setdefault(options.as_of_column, AS_OF_COLUMN)
    return ReadOptions(
        input_name(source.path),
        tuple(key_options),
        "as_is" if source.kind.format.is_like(target.kind.format) else "typed",
        options.delimiter,
        options.infer_types,
        options.header,
        _line_delimiter(source, target, options),
        key_options=key_options,
    )


def _line_delimiter(source: TableFile, target: TableFile, options: EnrichOptions) -> str | None:
    writer = target.kind.format.writer
    write_options = _write_options(source, target, options)
    return writer.delimiter(write_options) if isinstance(writer, DelimitedText) else None


def _write_options(
    source: TableFile, target: TableFile, options: EnrichOptions, in_lines: tuple[str, ...] = ()
) -> WriteOptions:
    same = source.kind.format is target.kind.format
    one_dictionary = options.as_of_column is None
    delimiter = options.delimiter if same else None
    return WriteOptions(delimiter, options.header, one_dictionary, in_lines)


@contextmanager
def _background_writer(sink: Sink) -> Iterator[Callable[[pa.RecordBatch], None]]:
    """Yield a function that passes batches to the sink's thread; it raises that thread's errors.

    Afterwards every batch is written or, if the block failed, none is pending.
    """
    waiting: deque[Future[None]] = deque()

    def write(batch: pa.RecordBatch) -> None:
        waiting.append(thread.submit(sink.write, batch))
        if len(waiting) > _WAITING or waiting[0].done():
            waiting.popleft().result()

    with ThreadPoolExecutor(1) as thread:
        try:
            yield write
            while waiting:
                waiting.popleft().result()
        finally:
            for pending in waiting:
                pending.cancel()
