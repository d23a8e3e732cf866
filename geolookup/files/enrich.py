"""A file with columns of answers after its own columns.

Strategy: rows are read, enriched, counted and written a batch at a time. A thread writes while the
next batches are read and looked up; other threads parse. The columns pass through the engine with
numbers as names, with addresses and instants after them: no new column has such a name. The engine
always adds error codes, and whether anything is known; both are counted.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from geolookup.contract.fields import ERROR_CODE
from geolookup.engine import Engine
from geolookup.errors import (
    ContractError,
    InvalidAddressError,
    PrivateAddressError,
    TableFileError,
    count_text,
)
from geolookup.files.byte_streams import STANDARD, input_name, open_output
from geolookup.files.refused import InvalidRows
from geolookup.files.row_streams import (
    LINE,
    Others,
    ReadOptions,
    Rows,
    WriteOptions,
    column_at,
    plain_schema,
)
from geolookup.files.table_files import AS_OF_COLUMN, IP_COLUMN, TIME_COLUMN, TableFile, open_table
from geolookup.files.timestamps import remedy_of, unix_seconds
from geolookup.kernel.lookups import state_of
from geolookup.parallel import cores, in_order
from geolookup.progress import Progress
from geolookup.tables import enrich
from geolookup.tables.generations import lines_of
from geolookup.tables.take import of_table

#: Names inside the engine of the addresses, the instants, and the instants of generations.
_ADDRESS, _TIME, _AS_OF = "-0", "-1", "-2"


@dataclass(frozen=True, slots=True)
class FileOptions:
    """How to enrich a file."""

    column: str  # of the addresses
    fields: tuple[str, ...] = ()  # none: all but ip and error_code
    prefix: str = ""
    on_invalid: Literal["null", "raise"] | None = (
        None  # None: null, but a file without any address is refused
    )
    at: int | None = None  # the instant of all rows, Unix seconds; None: now
    time_column: str | None = None  # or the column of each row's instant
    as_of_column: str | None = None  # of instants; the generation in force then answers the row
    time_zone: str | None = None  # the IANA zone of instants without an offset
    clean: bool = False  # whether addresses are cleaned by ``contract.cleaning``
    error_code: bool = False
    delimiter: str | None = None
    header: bool = True  # of CSV, read and written

    def keys(self) -> dict[str, str]:
        """Return the columns of addresses and instants, each with the option that names it."""
        keys = {self.column: IP_COLUMN}
        for name, option in ((self.time_column, TIME_COLUMN), (self.as_of_column, AS_OF_COLUMN)):
            if name is not None:
                keys.setdefault(name, option)
        return keys


@dataclass(slots=True)
class Counts:
    """The number of rows, of located rows, and of rows with invalid and private addresses."""

    rows: int = 0
    located: int = 0
    invalid: int = 0
    private: int = 0
    seconds: float = 0.0
    without_generation: Counter[str] = field(default_factory=Counter)  # by reason
    notes: list[str] = field(default_factory=list)  # about rows that were not read

    def report(self) -> list[str]:
        """Return lines about rows that were not read or answered, and the closing line."""
        without = self.without_generation
        answered = self.rows - without.total() - self.invalid - self.private
        closing = (
            f"{count_text(self.rows, 'row')}, {self.located:,} located, "
            f"{answered - self.located:,} unknown, {self.invalid:,} invalid, "
            f"{self.private:,} private in {self.seconds:.1f} s"
        )
        return [*self.notes, *lines_of(without), closing]


class EnrichedRows:
    """The rows of one file with new columns; ``schema`` is that of the batches."""

    def __init__(self, engine: Engine, rows: Rows, options: FileOptions, counts: Counts) -> None:
        self._rows, self._options, self._counts = rows, options, counts
        with self._explain_errors():
            empty = pa.record_batch(
                [pa.nulls(0, one) for one in rows.schema.types], rows.schema.names
            )
            first = self._with_keys(empty, 0).schema
            self._reader = self._enrich(engine, first)
        # Columns of the file | keys | new columns | error code | known
        end = len(self._reader.schema) - 1 - (not options.error_code)
        self._new = slice(len(first), end)
        new = pa.schema([*self._reader.schema][self._new])
        # A generation has dictionaries of its own.
        new = new if options.as_of_column is None else plain_schema(new)
        self.schema = pa.schema([*rows.schema, *new], rows.schema.metadata)
        twice = {*new.names} & {*rows.schema.names, *rows.names}
        if twice:
            problem = f"column {min(twice)!r} exists already"
            raise TableFileError(rows.stream.name, problem, "pass --prefix")

    def _enrich(self, engine: Engine, schema: pa.Schema) -> Any:
        options, state = self._options, state_of(engine)
        fields = of_table(options.fields, schema=state.dataset.schema)
        return enrich(
            state,
            pa.RecordBatchReader.from_batches(schema, self._batches_with_keys()),
            *(field.path for field in fields if field != ERROR_CODE),
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
        )

    def _batches_with_keys(self) -> Iterator[pa.RecordBatch]:
        begin = 0
        for batch in self._rows.batches:
            yield self._with_keys(batch, begin)
            begin += len(batch)

    def _with_keys(self, batch: pa.RecordBatch, begin: int) -> pa.RecordBatch:
        """Return a batch with addresses and instants appended; ``begin`` is its first row."""
        options = self._options
        keys = {_ADDRESS: column_at(batch, options.column)}
        for name, column in ((_TIME, options.time_column), (_AS_OF, options.as_of_column)):
            if column is not None:
                times = column_at(batch, column)
                keys[name] = unix_seconds(times, options.time_zone, begin)
        names = [str(at) for at in range(len(batch.columns))]
        return pa.record_batch([*batch.columns, *keys.values()], [*names, *keys])

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the batches to write, in the order of the rows, and count them."""
        options, counts = self._options, self._counts
        keep = options.on_invalid is not None or self._rows.malformed is not None
        invalid_rows = InvalidRows(self._rows.stream.name, options.column, options.clean, keep)
        width = len(self._rows.schema)
        with self._explain_errors():
            for batch in self._reader:
                codes, is_known = batch.columns[-2:]
                is_invalid = pc.equal(codes, InvalidAddressError.code).fill_null(False)
                invalid_rows.add(batch.column(width), is_invalid)
                self._check_members(batch)
                counts.rows += len(batch)
                counts.located += is_known.true_count
                counts.invalid += is_invalid.true_count
                counts.private += pc.equal(codes, PrivateAddressError.code).true_count
                new = map(pa.Array.cast, batch.columns[self._new], self.schema.types[width:])
                yield pa.record_batch([*batch.columns[:width], *new], schema=self.schema)
        counts.notes += invalid_rows.notes()

    def _check_members(self, batch: pa.RecordBatch) -> None:
        """Raise TableFileError if a line of JSON has a new member already."""
        if LINE not in self._rows.schema.names or self._rows.names:  # whole lines of CSV
            return
        names = self.schema.names[len(self._rows.schema) :]
        lines = batch.column(len(self._rows.schema) - 1)
        # The pattern finds members of members, too.
        pattern = f'"(?:{"|".join(map(re.escape, names))})"\\s*:'
        for at in np.flatnonzero(np.asarray(pc.match_substring_regex(lines, pattern))).tolist():
            twice = {*names} & json.loads(lines[at].as_py()).keys()
            if twice:
                number = self._rows.numbers.of(self._counts.rows + at)
                problem = f"member {min(twice)!r} exists already"
                name = self._rows.stream.name
                raise TableFileError(name, problem, "pass --prefix", row=number)

    @contextmanager
    def _explain_errors(self) -> Iterator[None]:
        """Name the file in the engine's errors."""
        try:
            yield
        except ContractError as error:
            remedy = "pass --on-invalid null to keep such rows"
            raise self._rows.error(error, remedy) from error
        except (TypeError, ValueError) as error:
            raise self._rows.error(error, remedy_of(error)) from error


def enrich_file(
    engine: Engine,
    source: TableFile,
    target: TableFile,
    options: FileOptions,
    *,
    force: bool = True,
) -> Counts:
    """Write ``target`` completely or not at all, and show the progress; return the counts.

    ``force`` replaces an existing file. Raises TableFileError for an unusable input, OutputError
    for an output that cannot be written, BrokenPipeError.
    """
    counts, progress = Counts(), Progress()
    keys, write = options.keys(), _writer(target)
    is_same = source.format is target.format
    others: Others = "as_is" if is_same else "typed"
    name, delimiter = input_name(source.path), options.delimiter
    read_options = ReadOptions(name, (*keys,), others, delimiter, options.header, key_options=keys)
    pa.set_cpu_count(cores())  # Arrow's own threads
    with open_table(source, read_options) as rows:
        answers = EnrichedRows(engine, rows, options, counts)
        if target.format.name == "parquet":
            _check_objects(answers.schema, name)
        with open_output(target.path, target.packing, force=force) as out:
            own = delimiter if is_same else None
            sink = write(out, answers.schema, WriteOptions(own, options.header, rows.names))
            try:
                with in_order(sink.write, answers.batches(), 1) as written:
                    for _ in written:
                        progress.show(counts.rows, rows.fraction(counts.rows))
            finally:
                progress.clear()
            sink.close()
        counts.notes += rows.notes()
    counts.seconds = progress.seconds
    return counts


def _check_objects(columns: Iterable[pa.Field], name: str) -> None:
    """Raise TableFileError for objects without members: Parquet has none."""
    for column in columns:
        kind = column.type
        if pa.types.is_struct(kind) and not kind.num_fields:
            problem = "objects without members do not go into Parquet"
            raise TableFileError(name, problem, "write JSON lines")
        if pa.types.is_nested(kind):
            _check_objects([kind.field(at) for at in range(kind.num_fields)], name)


def _writer(target: TableFile) -> Any:
    """Return the function that writes a file; TableFileError if none can."""
    if target.format.write is None:
        problem, remedy = f"{target.format.name} is read only", "name another by --output-format"
        raise TableFileError(target.path, problem, remedy)
    if target.path == STANDARD and not target.format.is_text:
        problem = f"{target.format.name} cannot be written to standard output"
        raise TableFileError(target.path, problem, "name a file")
    return target.format.write
