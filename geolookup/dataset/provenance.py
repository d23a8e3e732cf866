"""The origin of an answer: the source that decided each layer.

Strategy: the provenance tables hold a source number per interval and layer. Lookups read none of
these files. An index is checked when it is used.

``explain`` adds the values that decided, and how far around an address they hold. Adjacent
intervals with the same source and the same values are the closest that is known of the range of a
source's row: a source may state it in several rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from geolookup.contract import fields
from geolookup.contract.address import canonical, effective, parse, range_text
from geolookup.contract.special import is_private
from geolookup.dataset.files import Dataset, Starts, outside
from geolookup.dataset.mapped import File
from geolookup.dataset.metadata import Source
from geolookup.dataset.networks import aligned_around, network_of, same_kind_around
from geolookup.errors import REBUILD, DatasetError

if TYPE_CHECKING:
    from collections.abc import Hashable

    from geolookup.contract.schema import Schema


class Explanation(dict[str, Any]):
    """The result of ``explain``: a dict with a short repr that does not hold the address."""

    __slots__ = ()

    def __repr__(self) -> str:
        decided = [f"{name}={layer['source']!r}" for name, layer in self["layers"].items() if layer]
        return f"<geolookup.Explanation {', '.join(decided) or 'unknown'}>"


def explain(dataset: Dataset, sources: Sequence[Source], ip: object, data: Any) -> Explanation:
    """Return which of the sources decided each layer of an address, and the values; see Engine.

    ``data`` is the member of the answer. Of a private address the private layers are explained.
    Raises InvalidAddressError, PrivateAddressError if the dataset has no private layers, and
    DatasetError if an index of the dataset points outside its table.
    """
    network = network_of(dataset, ip)
    family, value = parse(ip)
    explained = Explanation(ip=canonical(family, value), network=str(network))
    family, value = effective(family, value)
    explained |= decisions(dataset, sources, family, value)
    around = _Around(dataset, family, value)
    try:
        for layer, decided in explained["layers"].items():
            if decided:
                first, last = around.same_values(layer, *_ends(decided["range"]))
                decided["values"] = around.values(layer, data)
                decided["same_values"] = range_text(family, first, last)
                decided["prefix"] = str(aligned_around(family, value, first, last))
    except IndexError:
        raise outside(dataset.path) from None
    return explained


def decisions(
    dataset: Dataset, sources: Sequence[Source], family: int, value: int
) -> dict[str, Any]:
    """Return the members of an explanation that do not depend on the answer.

    The address carries no other one.
    """
    provenance, schema = dataset.provenance(family), dataset.schema
    interval = provenance.starts.interval(value)
    ends = same_kind_around(family, value, *provenance.starts.ends(interval))
    known_layers = schema.private_layers if is_private(family, value) else schema.layers
    return {
        "same_sources": range_text(family, *ends),
        "layers": {
            layer: provenance.layer(layer, interval, sources) if layer in known_layers else None
            for layer in schema.layers
        },
    }


class Provenance:
    """The intervals of one family, each with the number of the source that decided each layer."""

    def __init__(self, file: File, family: int, schema: Schema) -> None:
        self._path = file.path
        self.starts = Starts(file, family)
        # A layer that no source decides has no column; zeros stand for it.
        none = memoryview(bytes(len(self.starts)))
        self._sources = {
            layer: file.view(layer, "uint8") if layer in file else none for layer in schema.layers
        }
        self.starts.check_lengths(*self._sources.values())

    def layer(self, layer: str, interval: int, sources: Sequence[Source]) -> dict[str, Any] | None:
        """Return the deciding source of a layer in an interval, and the range that it decides."""
        numbers = self._sources[layer]
        number = numbers[interval]
        if not number:
            return None
        if number > len(sources):
            raise DatasetError(self._path, f"there is no source {number}", REBUILD)
        source = sources[number - 1]
        begin, end = _run(numbers, interval)
        (first, _), (_, last) = self.starts.ends(begin), self.starts.ends(end)
        return {
            "source": source.name,
            "date": source.date,
            "licence": source.licence,
            **({"dataset": source.dataset} if source.dataset else {}),
            "range": range_text(self.starts.family, first, last),
        }


def _run(numbers: memoryview, interval: int) -> tuple[int, int]:
    """Return the first and last interval of those around one that have its number.

    Stripping bytes is much faster than a loop in Python.
    """
    same = bytes(numbers[interval : interval + 1])
    # Numbers 1 2 2 2 1, interval 2: begin is 1, the length of "1 2" without 2 at its end; end is
    # 5 - 1 - 1 = 3, as "2 2 1" without 2 at its beginning has one number.
    begin = len(bytes(numbers[:interval]).rstrip(same))
    end = len(numbers) - len(bytes(numbers[interval:]).lstrip(same)) - 1
    return begin, end


class _Around:
    """The intervals around an address, which carries no other one, and their values by layer."""

    def __init__(self, dataset: Dataset, family: int, value: int) -> None:
        self._dataset, self._schema = dataset, dataset.schema
        self._starts = dataset.starts(family)
        self._interval = self._starts.interval(value)
        self._columns = dataset.row_columns(family)
        self._rows: dict[tuple[str, int], dict[str, Any]] = {}

    def values(self, layer: str, data: Any) -> dict[str, Any]:
        """Return the fields of a layer that are known, as a row of a source states them."""
        names = self._schema.stated[layer]
        if layer.startswith(fields.OWN_PREFIX):
            own = self._row(fields.OWN, self._columns[fields.OWN][self._interval])
            values = {name: own[name] for name in names}
        else:
            of = self._schema.by_source_column
            values = {name: fields.value_in(data, of[name]) for name in names}
        return {name: value for name, value in values.items() if value is not None}

    def same_values(self, layer: str, first: int, last: int) -> tuple[int, int]:
        """Return the ends of the adjacent addresses in a range with the same values in a layer."""
        # range that the source decides   |-----------------|
        # intervals, with their keys    |--1--|--2--|--2*--|-1-|    * holds the address
        # same values                         |------------|
        begin = end = self._interval
        same = self._key(begin, layer)
        while begin and self._starts[begin] > first and self._key(begin - 1, layer) == same:
            begin -= 1
        while self._starts.ends(end)[1] < last and self._key(end + 1, layer) == same:
            end += 1
        return max(first, self._starts[begin]), min(last, self._starts.ends(end)[1])

    def _key(self, interval: int, layer: str) -> Hashable:
        """Return a key that is equal for intervals with the same values in a layer."""
        if layer == fields.LOCATION:  # each row of the location table has other values
            return self._columns[layer][interval]
        table = fields.OWN if layer.startswith(fields.OWN_PREFIX) else fields.NETWORK
        values = self._row(table, self._columns[table][interval])
        return repr([values[name] for name in self._schema.stated[layer]])  # lists are no keys

    def _row(self, table: str, row: int) -> dict[str, Any]:
        """Return the values of a row by their names in sources."""
        if (table, row) not in self._rows:
            rows: Any = self._dataset.own_rows if table == fields.OWN else self._dataset.networks
            names = (field.source_column for field in self._schema.in_table(table))
            self._rows[table, row] = dict(zip(names, rows.values(row), strict=True))
        return self._rows[table, row]


def _ends(text: str) -> tuple[int, int]:
    first, last = (parse(end)[1] for end in text.split("-"))
    return first, last
