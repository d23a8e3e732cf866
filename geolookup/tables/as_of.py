"""Columns of answers, each row from the generation that was in force at its instant.

Strategy: the rows of a block are sorted by generation. Each generation answers its rows as an
engine of its own does, and Arrow puts them back in the order of the rows. Few generations are open
at a time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from logging import getLogger
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from geolookup.dataset.arrow_files import array_of, without_dictionary
from geolookup.errors import short_id
from geolookup.parallel import in_order
from geolookup.tables.dictionaries import used_values
from geolookup.tables.enrich import TEXTS, Enricher, refuse
from geolookup.tables.generations import Generations, lines_of
from geolookup.tables.locate import CHUNK, without_views
from geolookup.tables.take import of_table
from geolookup.tables.times import Instants, instants_of

if TYPE_CHECKING:
    from geolookup.kernel import State

#: A block ends at this number of rows or of bytes of addresses, whichever comes first.
#: A generation has 20,000 rows of a block if there are 52 of them.
ROWS, _BYTES = 1 << 20, 1 << 28
#: Generations that are open together: more than there are weeks in a year.
OPEN = 64
_Rows = NDArray[np.int64]
_Ranks = NDArray[np.unsignedinteger]


class PastEnricher(Enricher):
    """Makes columns of fields as ``Enricher`` does, from many generations.

    The newest generation decides the columns. A column that an older one lacks is null in its
    rows. ``state`` is an open generation, ``options`` are those of ``Enricher``.
    ``without_generation`` counts rows that no generation answers, by reason; None: a warning states
    them after each table or stream.
    """

    def __init__(
        self,
        state: State,
        generations: Generations,
        fields: tuple[Any, ...],
        options: dict[str, Any],
        without_generation: Counter[str] | None,
    ) -> None:
        self._present, self._generations = state, generations
        self._without_generation = without_generation
        #: the generations by rank: 0 is the newest one
        self._by_rank = list(dict.fromkeys(name for name in generations.by_period[::-1] if name))
        # Rows before the first period, in pruned ones, and without an instant have the last ranks.
        self._count = len(self._by_rank)
        rank_of: dict[str | None, int] = {name: rank for rank, name in enumerate(self._by_rank)}
        rank_of[None] = self._count + 1
        by_period = [self._count, *(rank_of[name] for name in generations.by_period)]
        # The smallest type: then numpy sorts by radix.
        self._rank_of = np.array(by_period, np.min_scalar_type(self._count + 2))
        newest = self._state_of(0)
        super().__init__(newest, of_table(fields, schema=newest.dataset.schema), **options)
        self._options = options | {"on_invalid": "null", "threads": 1}
        self._enricher = lru_cache(OPEN)(self._open)

    def schema(self, inputs: pa.Schema = TEXTS) -> pa.Schema:
        """Return the schema of the new columns for inputs of these types, as ``Enricher`` does."""
        if "as_of" in inputs.names:
            instants_of(pa.nulls(0, inputs.field("as_of").type))
        return super().schema(inputs)

    def batches(self, inputs: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the new columns for each batch of inputs, of at most CHUNK rows, in order."""
        without = Counter() if self._without_generation is None else self._without_generation
        begin = 0
        for block in _blocks(inputs):
            answers = self._answers(block, begin, without)
            start = 0
            for batch in block:
                yield answers.slice(start, len(batch))
                start += len(batch)
            begin += start
        if self._without_generation is None:
            for line in lines_of(without):
                getLogger("geolookup").warning("enrich: %s: null in all new columns", line)

    def _answers(
        self, block: list[pa.RecordBatch], begin: int, without: Counter[str]
    ) -> pa.RecordBatch:
        """Return the new columns for a block; count its rows without a generation.

        ``begin`` is the number of its first row, for messages.
        """
        addresses = _joined(block, "column")
        ranks = self._ranks(instants_of(_joined(block, "as_of"), begin))
        instants = None
        if "time_column" in block[0].schema.names:
            instants = instants_of(_joined(block, "time_column"), begin)
        if self._strict:
            self._refuse(addresses, ranks, begin)
        order = np.argsort(ranks, kind="stable")
        ends = np.cumsum(np.bincount(ranks, minlength=self._count + 3))
        *answered, before, pruned, no_instant = np.split(order, ends[:-1])
        counts = map(len, (before, pruned, no_instant))
        without.update(dict(zip(self._generations.reasons(), counts, strict=True)))
        schema = super().schema(block[0].schema)

        def answer(task: tuple[Enricher, _Rows]) -> list[pa.Array]:
            enricher, rows = task
            of_rows = instants and Instants(instants.seconds[rows], instants.is_valid[rows])
            batch = enricher.batch(addresses.take(array_of(rows)), of_rows)
            return [_column(batch, field) for field in schema]

        with in_order(answer, self._tasks(answered), self._threads) as answers:
            parts = [*answers, [pa.nulls(0, field.type) for field in schema]]
        # The first of the ordered rows is row 7: row 7 has the first answer, or is null.
        places = np.empty_like(order)
        places[order] = np.arange(len(order))
        taken = array_of(places, places < ends[-4])
        columns = [pa.concat_arrays(arrays).take(taken) for arrays in zip(*parts, strict=True)]
        return pa.record_batch(columns, schema=schema)

    def _ranks(self, instants: Instants) -> _Ranks:
        """Return the rank of each row; from ``_count`` on: before, pruned, no instant."""
        periods = np.searchsorted(self._generations.begins, instants.seconds, side="right")
        ranks = self._rank_of[periods]
        ranks[~instants.is_valid] = self._count + 2
        return ranks

    def _refuse(self, addresses: pa.Array, ranks: _Ranks, begin: int) -> None:
        """Raise the error of the first address that a generation refuses: all refuse the same."""
        addresses, intervals = self._located(addresses)
        intervals.ids[ranks >= self._count] = 0
        refuse(addresses, intervals, begin)

    def _tasks(self, rows_of: Iterable[_Rows]) -> Iterator[tuple[Enricher, _Rows]]:
        """Yield the rows of each generation, at most CHUNK; the caller's thread opens it."""
        for rank, rows in enumerate(rows_of):
            for begin in range(0, len(rows), CHUNK):
                yield self._enricher(rank), rows[begin : begin + CHUNK]

    def _open(self, rank: int) -> Enricher:
        """Return the enricher of a generation; ValueError if a column has another type there."""
        state = self._state_of(rank)
        own = {field.path: field for field in state.dataset.schema.columns}
        fields = tuple(own[field.path] for field in self._fields if field.path in own)
        enricher = Enricher(state, fields, **self._options)
        newest = super().schema()
        for field in enricher.schema():
            if field.type != newest.field(field.name).type:
                generation = short_id(self._by_rank[rank])
                problem = (
                    f"enrich: column {field.name!r} has another type in generation {generation}"
                )
                raise ValueError(f"{problem}; leave it out, or rename one of them in its recipe")
        return enricher

    def _state_of(self, rank: int) -> State:
        name = self._by_rank[rank]
        is_open = self._present.dataset.generation == name
        return self._present if is_open else self._generations.open(name)


def _blocks(inputs: Iterable[pa.RecordBatch]) -> Iterator[list[pa.RecordBatch]]:
    block: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in inputs:
        block.append(batch)
        rows += len(batch)
        size += batch["column"].nbytes
        if rows >= ROWS or size >= _BYTES:
            yield block
            block, rows, size = [], 0, 0
    if block:
        yield block


def _joined(block: list[pa.RecordBatch], name: str) -> pa.Array:
    """Return an input of a block as one array whose rows Arrow can take."""
    arrays = [batch[name] for batch in block]
    if len(arrays) > 1:
        # Joined dictionaries can have more values than the type of the indices has numbers.
        arrays = [without_dictionary(array) for array in arrays]
    return pa.concat_arrays([without_views(array) for array in arrays])


def _column(batch: pa.RecordBatch, field: pa.Field) -> pa.Array:
    """Return a column of a generation, with the texts that occur; null if it lacks the column."""
    if field.name not in batch.schema.names:
        return pa.nulls(len(batch), field.type)
    column = batch.column(field.name)
    return used_values(column) if pa.types.is_dictionary(column.type) else column
