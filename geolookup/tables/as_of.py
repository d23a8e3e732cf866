"""Columns of answers, each row from the generation that was in force at its instant.

Strategy: the rows of a block are sorted by generation. The rows of each generation are enriched by
its own ``Enricher``, and the columns are put back into row order. A whole table is enriched one
generation at a time, the newest first. A stream keeps the generations that it has used open.

Each generation has its own dictionaries of texts. Their values are numbered together: the newest
generation has the first numbers, and the number of a value never changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from logging import getLogger
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from geolookup.contract.fields import Field
from geolookup.errors import AddressError
from geolookup.parallel import cores, in_order
from geolookup.tables.enrich import Enricher, chunked, empty_array, types_of
from geolookup.tables.generations import Generations, RowsWithoutGeneration
from geolookup.tables.inputs import Inputs
from geolookup.tables.row_blocks import (
    Block,
    GenerationRanks,
    RowsOfRank,
    Slices,
    block_of,
    slices_of,
)
from geolookup.tables.row_order import Numbers, in_row_order, renumbered
from geolookup.tables.take import of_table
from geolookup.tables.times import Instants, instants_of

if TYPE_CHECKING:
    from geolookup.kernel.protocol import State

#: The columns of some rows of a block, by rank.
_Answers = list[list[pa.Array]]


class PastEnricher:
    """Makes columns of fields as ``Enricher`` does, from many generations.

    The newest generation decides the columns. A column that an older one lacks is null in its
    rows. ``options`` are the options of ``Enricher``, with ``at``. ``without_generation`` counts
    rows that no generation answers; None: a warning states them after each table or stream.
    ``has_instants`` states whether the inputs have instants of local time.
    """

    def __init__(
        self,
        generations: Generations,
        fields: tuple[str | Iterable[str], ...],
        options: dict[str, Any],
        without_generation: RowsWithoutGeneration | None,
        *,
        has_instants: bool,
    ) -> None:
        self._generations = generations
        self._ranks = GenerationRanks(generations)
        self._options = options
        self._without_generation = without_generation
        self._no_instants = (
            Instants(np.empty(0, np.int64), np.empty(0, bool)) if has_instants else None
        )
        threads = options.get("threads") or cores()
        self._threads = threads if threads > 1 else 0
        self._lock = Lock()
        state = generations.open(self._ranks.by_rank[0])
        self._fields = of_table(fields, schema=state.dataset.schema)
        #: for the schema and for messages
        self._newest = Enricher(state, self._fields, **options)
        #: the names of the new columns, in order
        self.names = self._newest.names
        self._schema = self._sample(self._newest).schema
        newest = self._enricher(state, self._fields)
        sample = self._sample(newest)
        self._sample_schema = sample.schema
        self._texts = [
            _values_of(column.dictionary) if pa.types.is_dictionary(column.type) else None
            for column in sample.columns
        ]
        #: of the columns of a block; of texts their numbers
        self._types = [
            column.type if texts is None else column.indices.type
            for column, texts in zip(sample.columns, self._texts, strict=True)
        ]
        numbers = {at: None for at, texts in enumerate(self._texts) if texts is not None}
        self._kept = {0: _Generation(newest, range(len(self.names)), numbers, self._types)}

    def _sample(self, enricher: Enricher) -> pa.RecordBatch:
        """Return the columns for no rows; all rows have the same dictionaries."""
        return enricher.batch(pa.array([], pa.string()), self._no_instants)

    def _enricher(self, state: State, fields: tuple[Field, ...]) -> Enricher:
        return Enricher(state, fields, lists_by_row=True, **self._options)

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
        answers: list[_Answers] = [[] for _ in blocks]
        for rank in sorted({rank for block in blocks for rank in block.ranks()}):
            self._answer(rank, blocks, answers)
        with in_order(self._in_row_order, _drained(blocks, answers), self._threads) as made:
            batches = [pa.record_batch(columns, schema=schema) for columns in made]
        self._report([block.without_generation() for block in blocks])
        return pa.Table.from_batches(batches, schema)

    def _answer(self, rank: int, blocks: list[Block], answers: list[_Answers]) -> None:
        """Append the answers of a generation to the answers of each block."""
        generation = self._kept.get(rank) or self._open(rank)

        def of_block(block: Block) -> _Answers:
            return list(generation.answers(block.parts(rank)))

        try:
            with in_order(of_block, blocks, self._threads) as results:
                for before, more in zip(answers, results, strict=True):
                    before += more
        except AddressError:
            for block in blocks:
                self._refuse_first(block)
            raise

    def batches(self, columns: Iterable[Inputs]) -> Iterator[pa.RecordBatch]:
        """Yield the new columns for a sequence of columns, in order, at most CHUNK rows each.

        A generation is opened at its first row and kept open.
        """
        counts = []
        with in_order(self._answered, slices_of(map(chunked, columns)), self._threads) as results:
            for block, arrays in results:
                counts.append(block.without_generation())
                whole = pa.record_batch(arrays, schema=self._schema)
                begin = 0
                for length in block.lengths:
                    yield whole.slice(begin, length)
                    begin += length
        self._report(counts)

    def _answered(self, inputs: Slices) -> tuple[Block, list[pa.Array]]:
        block = self._block(inputs)
        answers: _Answers = []
        try:
            for rank in block.ranks():
                answers += self._generation(rank).answers(block.parts(rank))
        except AddressError:
            self._refuse_first(block)
            raise
        return block, self._in_row_order((block, answers))

    def _block(self, inputs: Slices) -> Block:
        return block_of(self._ranks, inputs)

    def _generation(self, rank: int) -> _Generation:
        with self._lock:
            if rank not in self._kept:
                self._kept[rank] = self._open(rank)
            return self._kept[rank]

    def _open(self, rank: int) -> _Generation:
        """Open a generation, and number its texts."""
        state = self._generations.open(self._ranks.by_rank[rank])
        own = {field.path: field for field in state.dataset.schema.columns}
        fields = [own[field.path] for field in self._fields if field.path in own]
        enricher = self._enricher(state, tuple(fields))
        positions = {name: at for at, name in enumerate(enricher.names)}
        sample = self._sample(enricher)
        numbers: dict[int, Numbers | None] = {}
        for at, (name, texts) in enumerate(zip(self.names, self._texts, strict=True)):
            if name not in positions:
                continue
            column = sample.column(positions[name])
            if column.type != self._sample_schema.field(at).type:
                generation = self._ranks.by_rank[rank]
                problem = f"enrich: column {name!r} has another type in generation {generation}"
                raise ValueError(f"{problem}; leave it out, or rename one of them in its recipe")
            if texts is not None:
                numbers[at] = texts.numbers(column.dictionary)
        columns = [positions.get(name) for name in self.names]
        return _Generation(enricher, columns, numbers, self._types)

    def _in_row_order(self, answered: tuple[Block, _Answers]) -> list[pa.Array]:
        """Return the columns of a block for its rows in order."""
        block, answers = answered
        answers = answers or list(self._kept[0].answers(block.nothing()))
        positions = block.positions()
        columns = []
        for at, texts in enumerate(self._texts):
            parts = [part[at] for part in answers]
            if positions is None:
                column = parts[0] if len(parts) == 1 else pa.concat_arrays(parts)
            else:
                column = in_row_order(parts, *positions)
            columns.append(column if texts is None else texts.column(column))
        return columns

    def _refuse_first(self, block: Block) -> None:
        """Raise the error of the first refused row: generations are answered out of row order."""
        try:
            for addresses, instants, rows in block.answered():
                self._newest.batch(addresses, instants, rows)
        except AddressError as error:
            raise error from None

    def _report(self, counts: list[RowsWithoutGeneration]) -> None:
        rows = self._without_generation or RowsWithoutGeneration()
        for more in counts:
            rows.add(more)
        if self._without_generation is None:
            for line in rows.lines(self._generations):
                getLogger("geolookup").warning("enrich: %s: null in all new columns", line)


class _Generation:
    """An open generation; its columns are in the order of the newest generation."""

    def __init__(
        self,
        enricher: Enricher,
        positions: Sequence[int | None],
        numbers: Mapping[int, Numbers | None],
        types: Sequence[pa.DataType],
    ) -> None:
        self._enricher = enricher
        self._positions = positions  # of each column of the newest; None: it lacks the column
        self._numbers = numbers  # by column of the newest: common numbers of texts, None: the same
        self._types = types  # of columns that it lacks

    def answers(self, parts: Iterable[RowsOfRank]) -> Iterator[list[pa.Array]]:
        """Yield the columns for rows; dictionaries are their indices, in common numbers."""
        for addresses, instants, rows in parts:
            batch = self._enricher.batch(addresses, instants, rows)
            yield [self._column(batch, at) for at in range(len(self._positions))]

    def _column(self, batch: pa.RecordBatch, at: int) -> pa.Array:
        position = self._positions[at]
        if position is None:
            return pa.nulls(len(batch), self._types[at])
        column = batch.column(position)
        if at not in self._numbers:
            return column
        numbers = self._numbers[at]
        return column.indices if numbers is None else renumbered(column.indices, numbers)


class _Lists:
    """The lists of a column in all generations that are open, numbered as they come."""

    def __init__(self, values: pa.Array) -> None:
        self._values = values

    def numbers(self, dictionary: pa.Array) -> Numbers:
        """Return the number of each list of a dictionary; equal lists get different numbers."""
        before = len(self._values)
        self._values = pa.concat_arrays([self._values, dictionary])
        return np.arange(before, before + len(dictionary), dtype=np.int32)

    def column(self, numbers: pa.Array) -> pa.Array:
        """Return a column of lists for their numbers."""
        return self._values.take(numbers)


def _values_of(dictionary: pa.Array) -> _Texts | _Lists:
    return _Lists(dictionary) if pa.types.is_list(dictionary.type) else _Texts(dictionary)


class _Texts:
    """The distinct texts of a column in all generations that are open, numbered as they come."""

    def __init__(self, values: pa.Array) -> None:
        self._values = values

    def numbers(self, dictionary: pa.Array) -> Numbers | None:
        """Return the number of each text of a dictionary, with new numbers; None: its index."""
        values = self._values
        if dictionary.equals(values.slice(0, len(dictionary))):
            return None
        # Values A B, dictionary B C: B has number 1, and C the new number 2.
        known = pc.index_in(dictionary, value_set=values)
        new = known.is_null()
        numbers: Numbers = known.fill_null(0).to_numpy().copy()
        is_new = new.to_numpy(zero_copy_only=False)
        numbers[is_new] = len(values) + np.arange(np.count_nonzero(is_new))
        self._values = pa.concat_arrays([values, dictionary.filter(new)])
        return numbers

    def column(self, numbers: pa.Array) -> pa.DictionaryArray:
        """Return a column of texts for their numbers."""
        return pa.DictionaryArray.from_arrays(numbers, self._values, safe=False)


def _drained(blocks: list[Block], answers: list[_Answers]) -> Iterator[tuple[Block, _Answers]]:
    """Yield each block with its answers, and forget both: memory is freed as rows are joined."""
    for at, block in enumerate(blocks):
        own, answers[at] = answers[at], []
        yield block, own
