"""A file with columns of answers after its own columns.

Strategy: a thread does all the work on a block: it parses, looks up and renders. The caller's
thread reads blocks and writes the results. In formats of text, the new columns of equal addresses
are rendered once per block. The engine always adds error codes, and whether anything is known; both
are counted.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterable
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from geolookup.contract.fields import ERROR_CODE
from geolookup.contract.localtime import instant
from geolookup.engine import Engine
from geolookup.errors import InvalidAddressError, PrivateAddressError, TableFileError, count_text
from geolookup.files.byte_streams import STANDARD, explain_errors, input_name, open_output
from geolookup.files.refused import InvalidRows
from geolookup.files.row_streams import (
    LINE,
    Others,
    ReadOptions,
    Rows,
    WriteOptions,
    column_at,
    plain_schema,
    row_errors,
)
from geolookup.files.table_files import AS_OF_COLUMN, IP_COLUMN, TIME_COLUMN, TableFile, open_table
from geolookup.files.text_blocks import TextError
from geolookup.files.timestamps import unix_seconds
from geolookup.kernel.lookups import state_of
from geolookup.parallel import cores
from geolookup.progress import Progress
from geolookup.tables.as_of import PastEnricher
from geolookup.tables.dictionaries import in_one
from geolookup.tables.enrich import Enricher
from geolookup.tables.generations import lines_of
from geolookup.tables.locate import column_of, is_text
from geolookup.tables.take import of_table

#: With so many new columns it is worth to find equal addresses.
_MANY = 4


@dataclass(frozen=True, slots=True)
class FileOptions:
    """How to enrich a file."""

    column: str  # of the addresses
    fields: tuple[str, ...] = ()  # none: all but ip and error_code
    prefix: str = ""
    #: None: null, but a file without any address is refused
    on_invalid: Literal["null", "raise"] | None = None
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


class _Answers:
    """The new columns of one file; ``new`` are their fields, ``schema`` is that of the output."""

    def __init__(
        self, engine: Engine, rows: Rows, options: FileOptions, counts: Counts, *, renders: bool
    ) -> None:
        self._rows, self._options, self._lock = rows, options, Lock()
        self._enricher = _enricher(engine, options, counts.without_generation)
        empty = [pa.nulls(0, field.type) for field in rows.schema]
        inputs = self._inputs(pa.record_batch(empty, rows.schema.names))
        every = [*self._enricher.schema(inputs.schema)]
        # New columns | error code | known
        self.new = pa.schema(every[: len(every) - 1 - (not options.error_code)])
        if options.as_of_column is not None:  # a generation has dictionaries of its own
            self.new = plain_schema(self.new)
        self.schema = pa.schema([*rows.schema, *self.new], rows.schema.metadata)
        twice = {*self.new.names} & {*rows.schema.names, *rows.names}
        if twice:
            problem = f"column {min(twice)!r} exists already"
            raise TableFileError(rows.stream.name, problem, "pass --prefix")
        self._finds_equal = (
            renders
            and len(self.new) >= _MANY
            and inputs.schema.names == ["column"]
            and is_text(inputs.schema.types[0])
            and options.on_invalid != "raise"
        )

    def _inputs(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the addresses and instants of a batch, named for the engine."""
        options = self._options
        inputs = {"column": in_one(column_of(column_at(batch, options.column)))}
        names = {"time_column": options.time_column, "as_of": options.as_of_column}
        for name, column in names.items():
            if column is not None:
                inputs[name] = unix_seconds(column_at(batch, column), options.time_zone)
        return pa.record_batch(inputs)

    def of(self, batch: pa.RecordBatch) -> _Answered:
        """Return the new columns of a batch."""
        inputs, rows = self._inputs(batch), None
        addresses = inputs["column"]
        if self._finds_equal:
            encoded = pc.dictionary_encode(addresses, null_encoding="encode")
            inputs, rows = pa.record_batch([encoded.dictionary], ["column"]), encoded.indices
        # Of several generations, one block at a time: they count rows, and have threads.
        with self._lock if self._options.as_of_column else nullcontext():
            (answers,) = self._enricher.batches([inputs])
        self._check_members(batch)
        columns = map(pa.Array.cast, answers.columns, self.new.types)
        codes, is_known = (of if rows is None else of.take(rows) for of in answers.columns[-2:])
        return _Answered(
            pa.record_batch([*columns], schema=self.new), rows, addresses, codes, is_known
        )

    def _check_members(self, batch: pa.RecordBatch) -> None:
        """Raise TextError if a line of JSON has a new member already."""
        if LINE not in self._rows.schema.names or self._rows.names:  # whole lines of CSV
            return
        lines = batch.column(LINE)
        # The pattern finds members of members, too.
        pattern = f'"(?:{"|".join(map(re.escape, self.new.names))})"\\s*:'
        for at in np.flatnonzero(np.asarray(pc.match_substring_regex(lines, pattern))).tolist():
            twice = {*self.new.names} & json.loads(lines[at].as_py()).keys()
            if twice:
                raise TextError(f"member {min(twice)!r} exists already", "pass --prefix", row=at)


@dataclass(frozen=True, slots=True)
class _Answered:
    """The new columns of a batch, and by row its addresses, error codes and what is known.

    ``rows`` are the rows in ``new`` of the rows of the batch; None: the same rows.
    """

    new: pa.RecordBatch
    rows: pa.Array | None
    addresses: pa.Array
    codes: pa.Array
    is_known: pa.BooleanArray


def _enricher(engine: Engine, options: FileOptions, without: Counter[str]) -> Enricher:
    """Return what answers the rows of a file; ``without`` counts rows without a generation."""
    state = state_of(engine)
    fields = of_table(options.fields, schema=state.dataset.schema)
    fields = (*(field for field in fields if field != ERROR_CODE), ERROR_CODE)
    how: dict[str, Any] = {
        "prefix": options.prefix,
        "on_invalid": options.on_invalid or "null",
        "at": instant(options.at),
        "clean": options.clean,
        "add_known": True,
    }
    if options.as_of_column is None:
        return Enricher(state, fields, **how)
    paths = tuple(field.path for field in fields)
    return PastEnricher(state, engine.generations(), paths, how, without)


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
    is_streamed = target.path == STANDARD and not sys.stdout.seekable()  # to a pager, for example
    counts, progress = Counts(), Progress(silent=is_streamed)
    write = _writer(target)
    is_same = source.format is target.format
    others: Others = "as_is" if is_same else "typed"
    name, delimiter = input_name(source.path), options.delimiter
    read_options = ReadOptions(name, options.keys(), others, delimiter, options.header)
    pa.set_cpu_count(cores())  # Arrow's own threads
    with open_table(source, read_options) as rows:
        with explain_errors(name, rows.format_name), row_errors():
            answers = _Answers(engine, rows, options, counts, renders=target.format.is_text)
        if not target.format.is_text:
            _check_objects(answers.schema, name)
        keep = options.on_invalid is not None or rows.is_log
        invalid = InvalidRows(name, options.column, options.clean, keep)
        with open_output(target.path, target.packing, force=force) as out:
            own = delimiter if is_same else None
            sink = write(out, answers.schema, WriteOptions(own, options.header, rows.names))

            def work(batch: pa.RecordBatch) -> tuple[_Answered, Any]:
                answered = answers.of(batch)
                return answered, sink.render(batch, answered.new, answered.rows)

            with progress.stage("answering"), closing(rows.run(work)) as results:
                for answered, rendered in results:
                    _count(counts, invalid, answered)
                    sink.write(rendered)
                    progress.show(counts.rows, rows.fraction(counts.rows))
            sink.close()
        counts.notes += [*invalid.notes(), *rows.notes()]
    counts.seconds = progress.seconds
    return counts


def _count(counts: Counts, invalid: InvalidRows, answered: _Answered) -> None:
    """Add the rows of a batch; TableFileError if they are the first, and hold no addresses."""
    is_invalid = pc.equal(answered.codes, InvalidAddressError.code).fill_null(False)
    invalid.add(answered.addresses, is_invalid)
    counts.rows += len(answered.codes)
    counts.located += answered.is_known.true_count
    counts.invalid += is_invalid.true_count
    counts.private += pc.equal(answered.codes, PrivateAddressError.code).true_count


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
