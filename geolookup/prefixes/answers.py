"""The prefixes of a selection: one by one, as a table, and as the lists that a syntax writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import chain

import numpy as np
import pyarrow as pa

from geolookup.contract.address import BITS
from geolookup.dataset.networks import Network, network_at
from geolookup.prefixes.aggregate import prefixes_of
from geolookup.prefixes.select import Selection
from geolookup.prefixes.spans import I32, Halves, Spans
from geolookup.prefixes.syntaxes.protocol import Entries, Lists
from geolookup.prefixes.texts import cidr_texts, range_texts

#: The name of the column of prefixes.
NETWORK_COLUMN = "network"


def networks(selection: Selection) -> Iterator[Network]:
    """Yield the prefixes in address order, IPv4 first."""
    for family in selection.families:
        for spans in selection.spans(family):
            yield from _networks(spans)


def _networks(spans: Spans) -> Iterator[Network]:
    prefixes, _ = prefixes_of(spans)
    host_bits = BITS[prefixes.family] - prefixes.lengths.astype(np.int64)
    columns = (each.tolist() for each in (prefixes.high, prefixes.low, host_bits))
    for high, low, bits in zip(*columns, strict=True):
        yield network_at(prefixes.family, high << 64 | low, bits)


def table(selection: Selection) -> pa.Table:
    """Return a row for each prefix: its text, and a column for each field of the values."""
    spans = chain.from_iterable(map(selection.spans, selection.families))
    batches = [_batch(selection, each) for each in spans]
    return pa.Table.from_batches(batches, _batch(selection, _nothing(selection)).schema)


def lists(selection: Selection, entries: Entries) -> Lists:
    """Return the lists of a selection by family; ``entries`` says what their entries are."""
    return {family: _ENTRIES[entries](selection, family) for family in selection.families}


def _prefix_texts(selection: Selection, family: int) -> Iterator[pa.Array]:
    return (cidr_texts(prefixes_of(spans)[0]) for spans in selection.spans(family))


def _range_texts(selection: Selection, family: int) -> Iterator[pa.Array]:
    return map(range_texts, selection.spans(family))


def _rows(selection: Selection, family: int) -> Iterator[pa.Array]:
    for spans in chain([_nothing(selection)], selection.spans(family)):
        yield _batch(selection, spans).to_struct_array()


_ENTRIES: Mapping[Entries, Callable[[Selection, int], Iterator[pa.Array]]] = {
    "prefix": _prefix_texts,
    "range": _range_texts,
    "row": _rows,
}


def _batch(selection: Selection, spans: Spans) -> pa.RecordBatch:
    prefixes, of = prefixes_of(spans)
    values = (
        each.taken(codes[of]) for each, codes in zip(selection.values, spans.codes, strict=True)
    )
    names = [NETWORK_COLUMN, *(each.field.name for each in selection.values)]
    return pa.record_batch([cidr_texts(prefixes), *values], names)


def _nothing(selection: Selection) -> Spans:
    """Return no range, with the columns that ranges of the selection have."""
    none = Halves(np.array([], np.uint64), np.array([], np.uint64))
    codes: tuple[I32, ...] = tuple(each.codes[:0] for each in selection.values)
    return Spans(4, none, none, codes)
