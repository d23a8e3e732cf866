"""Routing tables as ``bgpdump -m`` prints them: a route a line, with its AS path.

The prefix and the path are at fixed places, whatever columns follow. A line that is not a route
of a table, such as an update, is rejected.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from geolookup.dataset.intervals import Bools
from geolookup.errors import BuildError
from geolookup_builder.ranges import NOT_ROUTE, ParsedRanges, from_networks
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.sources.reading import delimited
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.reader import Batch, SourceFormat, SourceTable, one_table
from geolookup_builder.sources.reading.routes import (
    NONE,
    RouteNumbers,
    Routes,
    empty,
    origins,
    rows,
)
from geolookup_builder.sources.reading.sniffing import NETWORK, Detection, Opening
from geolookup_builder.sources.reading.stated_dates import in_first_lines
from geolookup_builder.sources.reading.text import Layout
from geolookup_builder.sources.reading.vendor_files import AsNames, load_as_names

#: TABLE_DUMP2|1700000000|B|peer|peer AS|1.0.0.0/24|64500 13335|IGP|...
_TYPES = ("TABLE_DUMP", "TABLE_DUMP2")
#: The columns that are read, by place; -m and -M agree on them.
_POSITIONS = {0: "type", 2: "flag", 5: "network", 6: "path"}
_WIDTH = 7
_NO_TEXT = pa.array([""], pa.string())


def _read(spec: SourceSpec) -> Iterator[SourceTable]:
    names = load_as_names(spec)
    return one_table(
        spec, (".txt", ".bgpdump"), lambda member: _batches(member, _layout(member), names)
    )


def _layout(member: Member) -> Layout:
    """Return the layout of a file by its first line; BuildError if that is not a route."""
    cells, _ = delimited.first_record(member, _of_width(0))
    table = len(cells) >= _WIDTH and cells[0] in _TYPES and cells[2] == "B"
    if not table or not NETWORK.fullmatch(cells[5]):
        remedy = "give the output of bgpdump -m for a table (a RIB), not for updates, without -p"
        raise BuildError(member.label, "not a routing table of bgpdump", line=1, remedy=remedy)
    return _of_width(len(cells))


def _of_width(width: int) -> Layout:
    # Columns that are not read get names that no column has: "- 1", "- 3".
    names = tuple(_POSITIONS.get(at, f"- {at}") for at in range(width))
    columns = frozenset(_POSITIONS.values())
    return Layout(names, frozenset(), columns, header=False, delimiter="|", quoted=False)


def _batches(member: Member, layout: Layout, names: AsNames | None) -> Iterator[Batch]:
    lines = delimited.batches(member, layout, _meaning)
    head = next(lines)
    of_lines = head.numbers
    numbers = RouteNumbers(member, of_lines.find_rejects, skipped=of_lines.skipped)
    yield from rows(map(_routes, chain([head], lines)), numbers, names)


def _meaning(rows: pa.RecordBatch) -> tuple[ParsedRanges, dict[str, pa.DictionaryArray]]:
    """Return the range and the origin of each line; a line that is not a route has no range."""
    network, path = rows.column("network"), rows.column("path")
    # The codes of empty cells are -1; numpy reads that as the last entry: an empty text.
    nets = from_networks(pa.concat_arrays([network.dictionary, _NO_TEXT]).cast(pa.large_string()))
    route = _among(rows.column("type"), _TYPES) & _among(rows.column("flag"), ("B",))
    at = np.where(route, _codes(network), -1)  # the last is not an address
    reason = np.where(route, nets.reason[at], NOT_ROUTE).astype(np.uint8)
    ranges = ParsedRanges(nets.family[at], nets.first[at], nets.last[at], reason)
    asns = pa.array(np.append(origins(path.dictionary), NONE).astype(np.uint32))
    # An arrow index cannot be -1: the last entry, NONE, has its number.
    codes = np.where(_codes(path) < 0, len(asns) - 1, _codes(path))
    return ranges, {"asn": pa.DictionaryArray.from_arrays(pa.array(codes), asns)}


def _codes(column: pa.DictionaryArray) -> NDArray[np.int32]:
    """Return the index of each cell's text; -1 for an empty cell."""
    codes: NDArray[np.int32] = column.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return codes


def _among(column: pa.DictionaryArray, words: tuple[str, ...]) -> Bools:
    """Mark the cells that hold one of the words."""
    matches = pc.is_in(column.dictionary, pa.array(words, column.dictionary.type))
    # False at the end is for the code -1.
    return np.append(matches.to_numpy(zero_copy_only=False), False)[_codes(column)]


def _routes(batch: Batch) -> Routes:
    if not len(batch):
        return empty()
    lines = batch.numbers.of(np.arange(batch.start, batch.start + len(batch)))
    asn = batch.fields["asn"]
    origin = asn.dictionary.to_numpy()[asn.indices.to_numpy()]
    return Routes(batch.ranges, origin, np.ones(len(batch), np.int64), lines)


def _detect(opening: Opening) -> Detection | None:
    _layout(opening.start)
    return Detection("a routing table")


#: The time of the first route; without -t, the time of the table.
_DATE = in_first_lines(r"\ATABLE_DUMP2?\|([0-9]{9,10})\|")
FORMAT = SourceFormat("bgpdump", frozenset({"names"}), _read, _detect, _DATE)
