"""Columns of answers, each row from the generation that was in force at its instant.

Strategy: the rows of a block are sorted by generation. Each generation only locates its rows: their
numbers in the joint row tables of all generations are written in row order. Then columns are taken
in row order, a chunk at a time, as from one dataset. The rows of a whole table are located one
generation at a time, the newest first. A stream keeps the generations that it has used open.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from logging import getLogger
from threading import Lock
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from geolookup.contract.fields import COUNTRY, ZONE, Field
from geolookup.dataset.files import outside
from geolookup.errors import short_id
from geolookup.parallel import cores, in_order
from geolookup.tables.enrich import Enricher, chunked, empty_array, in_order_of, types_of
from geolookup.tables.generations import Generations, RowsWithoutGeneration
from geolookup.tables.inputs import Inputs
from geolookup.tables.joint_rows import JointNumbers, JointTables
from geolookup.tables.locate import clean_column, locate_chunk, with_private
from geolookup.tables.located_rows import LocatedRows, Part
from geolookup.tables.row_blocks import Block, GenerationRanks, Slices, block_of, slices_of
from geolookup.tables.row_tables import row_tables
from geolookup.tables.take import OF_ADDRESS, ColumnTaker, RowFinder, is_known, of_table, tables_of
from geolookup.tables.times import Clock, instants_of

if TYPE_CHECKING:
    from geolookup.kernel.protocol import State


class PastEnricher:
    """Makes columns of fields as ``Enricher`` does, from many generations.

    The newest generation decides the columns. A column that an older one lacks is null in its
    rows. ``options`` are the options of ``Enricher``, with ``at``. ``without_generation`` counts
    rows that no generation answers; None: a warning states them after each table or stream.
    """

    def __init__(
        self,
        generations: Generations,
        fields: tuple[str | Iterable[str], ...],
        options: dict[str, Any],
        without_generation: RowsWithoutGeneration | None,
    ) -> None:
        self._generations = generations
        self._ranks = GenerationRanks(generations)
        self._without_generation = without_generation
        self._state = generations.open(self._ranks.by_rank[0])
        self._fields = of_table(fields, schema=self._state.dataset.schema)
        #: for the schema and for messages
        self._newest = Enricher(self._state, self._fields, **options)
        #: the names of the new columns, in order
        self.names = self._newest.names
        self._second = options["at"]
        self._clean = options.get("clean", False)
        self._strict = options.get("on_invalid") == "raise"
        self._add_known = options.get("add_known", False)
        threads = options.get("threads") or cores()
        self._threads = threads if threads > 1 else 0
        self._lock = Lock()
        self._stored = [field for field in self._fields if field not in OF_ADDRESS]
        tables = row_tables(self._state.dataset)
        self._types = {
            field: tables.column(field).type for field in self._stored if field.group != "time"
        }
        links = {COUNTRY} & {field.table for field in self._types}
        links |= {ZONE} if len(self._types) < len(self._stored) else set()
        self._joint = JointTables(self._types, links)
        self._kept = {0: self._joined(self._state, "")}
        self._taker: ColumnTaker | None = None

    def schema(self, types: Inputs) -> pa.Schema:
        """Return the schema of the new columns for inputs of these types, as ``Enricher`` does."""
        instants_of(empty_array(types.as_of))
        return self._newest.schema(types)

    def table(self, inputs: Inputs) -> pa.Table:
        """Return the new columns for whole columns, one generation at a time."""
        columns = chunked(inputs)
        schema = self.schema(types_of(columns))
        with in_order(self._block, slices_of([columns]), self._threads) as made:
            blocks = list(made)
        for rank in sorted({rank for located in blocks for rank in located.block.ranks()}):
            self._locate(self._kept.get(rank) or self._open(rank), rank, blocks)
        for located in blocks:
            self._check(located)
        parts = (part for located in blocks for part in located.parts())
        with in_order(self._columns, parts, self._threads) as taken:
            batches = list(taken)
        self._report([located.block.without_generation() for located in blocks])
        return pa.Table.from_batches(batches, schema)

    def _locate(self, generation: _Generation, rank: int, blocks: list[LocatedRows]) -> None:
        def locate(located: LocatedRows) -> None:
            generation.locate(located, rank)

        with in_order(locate, blocks, self._threads) as done:
            for _ in done:
                pass

    def batches(self, columns: Iterable[Inputs]) -> Iterator[pa.RecordBatch]:
        """Yield the new columns for a sequence of columns, in order, at most CHUNK rows each.

        A generation is opened at its first row and kept open.
        """
        counts = []
        with in_order(self._answered, slices_of(map(chunked, columns)), self._threads) as results:
            for block, batches in results:
                counts.append(block.without_generation())
                yield from batches
        self._report(counts)

    def _answered(self, rows: Slices) -> tuple[Block, list[pa.RecordBatch]]:
        located = self._block(rows)
        for rank in located.block.ranks():
            self._generation(rank).locate(located, rank)
        self._check(located)
        return located.block, [self._columns(part) for part in located.parts()]

    def _block(self, rows: Slices) -> LocatedRows:
        block = block_of(self._ranks, rows)
        if self._clean:
            intervals = locate_chunk(self._state, block.addresses)
            addresses, _ = clean_column(self._state, block.addresses, intervals)
            block = replace(block, addresses=addresses)
        return LocatedRows.nothing(
            block,
            tables_of(self._stored),
            has_families=len(self._stored) < len(self._fields),
            add_known=self._add_known,
        )

    def _check(self, located: LocatedRows) -> None:
        if self._strict:
            located.refuse()

    def _generation(self, rank: int) -> _Generation:
        with self._lock:
            if rank not in self._kept:
                self._kept[rank] = self._open(rank)
            return self._kept[rank]

    def _open(self, rank: int) -> _Generation:
        generation = self._ranks.by_rank[rank]
        return self._joined(self._generations.open(generation), generation)

    def _joined(self, state: State, generation: str) -> _Generation:
        """Add the rows of a generation to the joint tables."""
        own = {field.path: field for field in state.dataset.schema.columns}
        tables = row_tables(state.dataset)
        for field, kind in self._types.items():
            if field.path in own and tables.column(own[field.path]).type != kind:
                name = self.names[self._fields.index(field)]
                problem = (
                    f"enrich: column {name!r} has another type in generation {short_id(generation)}"
                )
                raise ValueError(f"{problem}; leave it out, or rename one of them in its recipe")
        numbers = self._joint.add(tables, own)
        self._taker = None
        return _Generation(
            state, [own[field.path] for field in self._stored if field.path in own], numbers
        )

    def _columns(self, part: Part) -> pa.RecordBatch:
        """Return the columns of a chunk, in row order."""
        answers = self._current().take(part.rows, part.intervals.ids >= 0, part.instants)
        columns = in_order_of(self._fields, answers, part.addresses, part.intervals)
        if part.known is not None:
            columns.append(part.known)
        return pa.record_batch(columns, names=self.names)

    def _current(self) -> ColumnTaker:
        """Return a taker from the joint tables of all generations that are open."""
        with self._lock:
            if self._taker is None:
                columns = self._joint.columns()
                clock = Clock(columns.zones, self._second)
                self._taker = ColumnTaker(columns, self._stored, clock)
            return self._taker

    def _report(self, counts: list[RowsWithoutGeneration]) -> None:
        rows = self._without_generation or RowsWithoutGeneration()
        for more in counts:
            rows.add(more)
        if self._without_generation is None:
            for line in rows.lines(self._generations):
                getLogger("geolookup").warning("enrich: %s: null in all new columns", line)


class _Generation:
    """An open generation, and the joint numbers of its rows."""

    def __init__(
        self, state: State, fields: list[Field], numbers: Mapping[str, JointNumbers]
    ) -> None:
        self._state = state
        self._finder = RowFinder(state, fields)
        self._numbers = numbers

    def locate(self, located: LocatedRows, rank: int) -> None:
        """Write the joint rows of the addresses of a rank, in row order."""
        for addresses, at in located.block.parts(rank):
            intervals = locate_chunk(self._state, addresses)
            own_ids = None
            if self._finder.needs_private:
                own_ids = with_private(self._state, addresses, intervals)
            located.ids[at] = intervals.ids
            if len(located.families):
                located.families[at] = intervals.families
            if located.known is not None:
                located.known[at] = is_known(self._state, intervals.ids)
            try:
                for table, rows in self._finder.find(intervals.ids, own_ids).items():
                    located.rows[table][at] = self._numbers[table][rows]
            except IndexError:
                raise outside(self._state.dataset.path) from None
