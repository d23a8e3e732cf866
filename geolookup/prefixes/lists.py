"""Lists of prefixes: of a selection, read from a file, and the changes between two.

Strategy: prefixes are compared as texts, because each has one text only. So the earlier lists may
also come from a file that was written: its prefixes are the words of the form of a prefix.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from geolookup.contract.address import BITS, parse_text
from geolookup.contract.fields import GROUPS, OWN, Field
from geolookup.contract.paths import resolve_fields
from geolookup.dataset.networks import Network, network_at
from geolookup.errors import InvalidAddressError, TableFileError
from geolookup.filesystem import open_regular
from geolookup.prefixes.aggregate import Prefixes, cidr_texts, prefixes_of, range_texts
from geolookup.prefixes.list_text import EntryKind, Lists, Syntax, checked_names
from geolookup.prefixes.select import Selection
from geolookup.prefixes.spans import Spans

#: The name of the column of prefixes.
NETWORK_COLUMN = "network"
_COMMENT = re.compile(rb"^[ \t]*#.*$", re.MULTILINE)
_REMEDY = "name a file that geolookup prefixes has written"
#: Lines that only a file of changes has, and how only such a file begins.
_CHANGE = re.compile(
    rb"^(?:delete element |del |-D |prompt$| no |[+-][0-9a-f:]|add \S+ \S+ -exist$)"
    rb"|\A\s*(?:add element |\*filter\s+-A )",
    re.MULTILINE,
)
#: Ranges whose values become Python objects at a time: one of IPv6 can be 254 prefixes.
BATCH = 1 << 12
Changed = dict[int, list[pa.Array]]
#: The most digits of a length.
_DIGITS = 3


def networks(selection: Selection) -> Iterator[Network]:
    """Yield the prefixes in address order, IPv4 first."""
    return (network for network, _ in networks_with_values(selection))


def networks_with_values(selection: Selection) -> Iterator[tuple[Network, Any]]:
    """Yield the prefixes, each with its values in the shape of ``Engine.get``."""
    stored = selection.dataset.schema.stored
    for spans in selection.all_spans():
        for begin in range(0, len(spans), BATCH):
            part = spans.take(slice(begin, begin + BATCH))
            prefixes, columns = _with_values(selection, part)
            plain = dict(zip(selection.fields, map(_plain, columns), strict=True))
            # Not strict: without fields the values are endless.
            yield from zip(_networks(prefixes), _values(selection.by, stored, plain), strict=False)


def _with_values(selection: Selection, spans: Spans) -> tuple[Prefixes, list[pa.Array]]:
    prefixes, of = prefixes_of(spans)
    return prefixes, selection.columns.take([codes[of] for codes in spans.codes])


def _values(
    by: str | Iterable[Any], stored: tuple[Field, ...], columns: Mapping[Field, list[Any]]
) -> Iterator[Any]:
    """Yield the values of prefixes: one for a name, a tuple for several names."""
    if not isinstance(by, str):
        parts = [_values(name, stored, columns) for name in by]
        return zip(*parts, strict=True) if parts else repeat(())
    fields = resolve_fields(by, stored, "prefixes")
    return _objects(fields, columns) if by in (*GROUPS, OWN) else iter(columns[fields[0]])


def _plain(column: pa.Array) -> list[Any]:
    decoded = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
    values: list[Any] = decoded.to_pylist()
    return values


def _objects(
    fields: tuple[Field, ...], columns: Mapping[Field, list[Any]]
) -> Iterator[dict[str, Any]]:
    """Yield a new dict for each prefix; an unknown optional member is left out, as in answers."""
    for row in zip(*(columns[field] for field in fields), strict=True):
        members = zip(fields, row, strict=True)
        yield {of.member: item for of, item in members if not (of.optional and item is None)}


def _networks(prefixes: Prefixes) -> Iterator[Network]:
    host_bits = BITS[prefixes.family] - prefixes.lengths.astype(np.int64)
    columns = (column.tolist() for column in (*prefixes.first.halves(), host_bits))
    for low, high, bits in zip(*columns, strict=True):
        yield network_at(prefixes.family, high << 64 | low, bits)


def table(selection: Selection) -> pa.Table:
    """Return a row for each prefix: its text, and a column for each field of the values."""
    batches = [_batch(selection, spans) for spans in selection.all_spans()]
    return pa.Table.from_batches(batches, _schema(selection))


def lists(selection: Selection, entries: EntryKind) -> Lists:
    """Return the lists of a selection by family; ``entries`` is the kind of their entries."""
    kinds: dict[EntryKind, Callable[[Spans], pa.Array]] = {
        "prefix": lambda spans: cidr_texts(prefixes_of(spans)[0]),
        "range": range_texts,
        "row": lambda spans: _batch(selection, spans).to_struct_array(),
    }
    # Rows have their members also in a list without a row.
    empty = [pa.array([], pa.struct(list(_schema(selection))))] if entries == "row" else []
    return {
        family: chain(empty, map(kinds[entries], selection.spans(family)))
        for family in selection.families
    }


def _batch(selection: Selection, spans: Spans) -> pa.RecordBatch:
    prefixes, columns = _with_values(selection, spans)
    return pa.record_batch([cidr_texts(prefixes), *columns], schema=_schema(selection))


def _schema(selection: Selection) -> pa.Schema:
    return pa.schema([(NETWORK_COLUMN, pa.string()), *selection.columns.schema])


def changes(old: Lists, new: Lists) -> tuple[Changed, Changed]:
    """Return the prefixes that are only in the new lists, and those only in the old ones.

    A family that the new lists do not have is left out; the others have one batch each.
    """
    before, after = (
        {family: _column(side.get(family, ())) for family in new} for side in (old, new)
    )
    return _without(after, before), _without(before, after)


def _column(batches: Iterable[pa.Array]) -> pa.Array:
    return pa.concat_arrays([pa.array([], pa.string()), *batches])


def _without(some: dict[int, pa.Array], others: dict[int, pa.Array]) -> Changed:
    return {
        family: [texts.filter(pc.invert(pc.is_in(texts, value_set=others[family])))]
        for family, texts in some.items()
    }


def read_list(path: Path, syntax: Syntax) -> Lists:
    """Return the prefixes of a file that was written in a syntax, or that has a prefix a line.

    Raises TableFileError for a file that cannot be read, and for one that holds changes, a
    malformed prefix, or no list.
    """
    try:
        with open_regular(path) as file:
            # A comment may have words of the form of a prefix.
            content = _COMMENT.sub(b"", file.read())
    except OSError as error:
        problem = f"cannot be read ({error.strerror})"
        remedy = "name a list that was written, a dataset or a store"
        raise TableFileError(path, problem, remedy) from None
    if _CHANGE.search(content):
        raise TableFileError(path, "holds changes, not a list", "name a file without changes")
    prefixes = syntax.prefixes_in(content)
    # Without prefixes: a list of nftables has its head, a plain list is empty.
    empty = b"".join(syntax.text(dict.fromkeys(BITS, ()), checked_names()))
    if not prefixes and content.split()[:1] != empty.split()[:1]:
        raise TableFileError(path, "holds no prefix", _REMEDY)
    lists: dict[int, list[str]] = {family: [] for family in BITS}
    for text in prefixes:
        try:
            lists[_family(text)].append(text)
        except InvalidAddressError:
            raise TableFileError(path, "holds a malformed prefix", _REMEDY) from None
    return {family: [pa.array(texts, pa.string())] for family, texts in lists.items()}


def _family(prefix: str) -> int:
    """Return the family of a prefix; raises InvalidAddressError for a malformed one."""
    address, _, length = prefix.partition("/")
    family, _ = parse_text(address)
    # The number of digits first: int() of a text of thousands of digits is slow or refused.
    if not length.isdecimal() or len(length) > _DIGITS or int(length) > BITS[family]:
        raise InvalidAddressError
    return family
