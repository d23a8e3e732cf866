"""Files with columns of answers after their own columns.

Strategy: rows are read, enriched, counted and written a batch at a time. A thread writes in the
background while the next batches are read and looked up; other threads parse. Only the addresses
and instants pass through the engine, with numbers as names: no new column has such a name. The
engine always adds error codes, and whether anything is known; both are counted.
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
from geolookup.files.refused import InvalidRows
from geolookup.files.row_streams import (
    ReadOptions,
    Rows,
    WriteOptions,
    column_at,
    plain_schema,
)
from geolookup.files.table_files import AS_OF_COLUMN, IP_COLUMN, TIME_COLUMN, TableFile, open_table
from geolookup.files.timestamps import remedy_of, unix_seconds
from geolookup.kernel.lookups import state_of
from geolookup.tables import enrich
from geolookup.tables.generations import RowsWithoutGeneration
from geolookup.tables.locate import CHUNK
from geolookup.tables.take import of_table

if TYPE_CHECKING:
    from geolookup.contract.schema import Schema

#: Names inside the engine of the addresses, the instants, and the instants of generations.
_ADDRESS, _TIME, _AS_OF = "0", "1", "2"
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
    on_invalid: str | None = None  # None: null, but a file without any address is refused
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

    def paths(self, schema: Schema) -> list[str]:
        """Return the paths of the fields, groups expanded; ValueError for an unknown field.

        The error code is not among them: it is always the last column.
        """
        fields = of_table(self.fields, schema=schema)
        return [field.path for field in fields if field != ERROR_CODE]

    def keys(self) -> dict[str, str]:
        """Return the columns of addresses and instants, each with the option that names it."""
        keys = {self.column: IP_COLUMN}
        for name, option in ((self.time_column, TIME_COLUMN), (self.as_of_column, AS_OF_COLUMN)):
            if name is not None:
                keys.setdefault(name, option)
        return keys


@dataclass(slots=True)
class Counts:
    """The number of rows, of located rows, and of refused rows by error code."""

    rows: int = 0
    located: int = 0
    notes: list[str] = field(default_factory=list)  # about rows of files that were not read
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
        self, engine: Engine, rows: Rows, options: EnrichOptions, name: str, counts: Counts
    ) -> None:
        self._rows, self._options, self._name, self._counts = rows, options, name, counts
        keep = options.on_invalid is not None or rows.malformed is not None
        self._invalid = InvalidRows(name, options.column, options.clean, keep)
        #: the user's columns of rows that the engine has not returned yet
        self._waiting: deque[pa.RecordBatch] = deque()
        with self._explain_errors():
            self._reader = self._enrich(engine)
        # instants and address | new columns | error code | known
        end = len(self._reader.schema) - 1 - (not options.error_code)
        first = len(self._keys(_empty(rows.schema), 0).columns)
        self._new = range(first, end)
        new = pa.schema([self._reader.schema.field(at) for at in self._new])
        # A generation has dictionaries of its own.
        new = new if options.as_of_column is None else plain_schema(new)
        self.schema = pa.schema([*rows.schema, *new], rows.schema.metadata)
        self._check_names(new.names)

    def _enrich(self, engine: Engine) -> Any:
        options, state = self._options, state_of(engine)
        schema = self._keys(_empty(self._rows.schema), 0).schema
        return enrich(
            state,
            pa.RecordBatchReader.from_batches(schema, self._key_batches()),
            *options.paths(state.dataset.schema),
            ERROR_CODE.path,
            column=_ADDRESS,
            prefix=options.prefix,
            on_invalid=options.on_invalid or "null",
            at=options.at,
            time_column=_TIME if options.time_column else None,
            as_of=_AS_OF if options.as_of_column else None,
            generations=engine.generations() if options.as_of_column else None,
            without_generation=self._counts.without_generation,
            clean=options.clean,
            add_known=True,
            threads=options.threads,
        )

    def _key_batches(self) -> Iterator[pa.RecordBatch]:
        before = 0
        for whole in self._rows.batches:
            for begin in range(0, len(whole), CHUNK):  # the engine returns as many rows at a time
                part = whole.slice(begin, CHUNK)
                self._waiting.append(part)
                yield self._keys(part, before + begin)
            before += len(whole)

    def _keys(self, batch: pa.RecordBatch, begin: int) -> pa.RecordBatch:
        options = self._options
        columns = {_ADDRESS: column_at(batch, options.column)}
        for name, column in ((_TIME, options.time_column), (_AS_OF, options.as_of_column)):
            if column is not None:
                times = column_at(batch, column)
                columns[name] = unix_seconds(times, options.time_zone, begin)
        return pa.record_batch([*columns.values()], [*columns])

    def _check_names(self, new: list[str]) -> None:
        twice = {*new} & {*self._rows.schema.names}
        if twice:
            problem = f"column {min(twice)!r} exists already"
            raise TableFileError(self._name, problem, "pass --prefix")

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the batches to write, in the order of the rows, and count them."""
        with self._explain_errors():
            for batch in self._reader:
                rows, (codes, is_known) = self._waiting.popleft(), batch.columns[-2:]
                self._counts.add(codes, is_known)
                is_invalid = pc.equal(codes, InvalidAddressError.code).fill_null(False)
                self._invalid.add(batch.column(_ADDRESS), is_invalid.to_numpy(False))
                new = [batch.column(at) for at in self._new]
                types = self.schema.types[len(rows.columns) :]
                if self._options.as_of_column is not None:
                    new = [column.cast(kind) for column, kind in zip(new, types, strict=True)]
                yield pa.record_batch([*rows.columns, *new], schema=self.schema)
        self._counts.notes += self._invalid.notes()

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


def _empty(schema: pa.Schema) -> pa.RecordBatch:
    return pa.record_batch([pa.nulls(0, kind) for kind in schema.types], schema=schema)


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
    before, is_same = counts.rows, source.kind.format is target.kind.format
    like = is_same or (source.kind.format.is_delimited and target.kind.format.is_delimited)
    keys = options.keys()
    read_options = ReadOptions(
        input_name(source.path),
        (*keys,),
        "as_is" if like else "typed",
        options.delimiter,
        options.infer_types,
        options.header,
        key_options=keys,
    )
    write_options = WriteOptions(options.delimiter if is_same else None, options.header)
    write_table = target.kind.format.write
    assert write_table is not None  # noqa: S101 - the command refuses formats that are read only
    with open_table(source, read_options) as table:
        answers = EnrichedRows(engine, table.rows, options, read_options.name, counts)
        with open_output(target.path, target.kind.compression, force=force) as out:
            sink = write_table(out, answers.schema, write_options)
            with _in_background(sink.write) as write:
                for batch in answers.batches():
                    write(batch)
                    step(table.fraction(counts.rows - before))
            sink.close()
        counts.notes += table.malformed_notes()


@contextmanager
def _in_background(
    function: Callable[[pa.RecordBatch], None],
) -> Iterator[Callable[[pa.RecordBatch], None]]:
    """Yield a function that passes batches to a thread; it raises that thread's errors.

    Afterwards every batch is written or, if the block failed, none is pending.
    """
    waiting: deque[Future[None]] = deque()

    def write(batch: pa.RecordBatch) -> None:
        waiting.append(thread.submit(function, batch))
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
