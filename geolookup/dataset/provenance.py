"""The origin of an answer: the source that decided each layer.

Strategy: the provenance tables hold a source number per interval and layer. Lookups read none of
these files. An index is checked when it is used.

``explain`` adds the values that decided, and how far around an address they hold. Adjacent
intervals with the same source and the same values are the closest that is known of the range of a
source's row: a source may state it in several rows.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from geolookup.contract import fields
from geolookup.contract.address import canonical, effective, parse, range_text
from geolookup.contract.special import is_private
from geolookup.dataset.files import Dataset, File, Starts, outside
from geolookup.dataset.metadata import Source
from geolookup.dataset.networks import aligned_around, holding, network_of, same_kind_around
from geolookup.errors import REBUILD, DatasetError

if TYPE_CHECKING:
    from collections.abc import Hashable

    from geolookup.contract.schema import Schema
    from geolookup.dataset.networks import Intervals


class Explanation(dict[str, Any]):
    """The result of ``explain``: a dict with a short repr that does not hold the address."""

    __slots__ = ()

    def __repr__(self) -> str:
        decided = [f"{name}={layer['source']!r}" for name, layer in self["layers"].items() if layer]
        return f"<geolookup.Explanation {', '.join(decided) or 'unknown'}>"


def explain(state: Intervals, sources: Sequence[Source], ip: object, data: Any) -> Explanation:
    """Return which of the sources decided each layer of an address, and the values; see Engine.

    ``data`` is the member of the answer. Of a private address the private layers are explained.
    Raises InvalidAddressError, PrivateAddressError if the dataset has no private layers, and
    DatasetError if an index of the dataset points outside its table.
    """
    network = network_of(state, ip)
    family, value = parse(ip)
    explained = Explanation(
        ip=canonical(family, value),
        network=str(network),
        **decisions(state.dataset, sources, *effective(family, value)),
    )
    _add_values(state, explained, data)
    return explained


def decisions(
    dataset: Dataset, sources: Sequence[Source], family: int, value: int
) -> dict[str, Any]:
    """Return the members of an explanation that do not depend on the answer.

    The address carries no other one.
    """
    provenance, schema = dataset.provenance(family), dataset.schema
    ends = same_kind_around(family, value, *provenance.around(value))
    known_layers = schema.private_layers if is_private(family, value) else schema.layers
    layers = provenance.layers(value, sources).items()
    return {
        "same_sources": range_text(family, *ends),
        "layers": {layer: item if layer in known_layers else None for layer, item in layers},
    }


class Provenance:
    """The intervals of one family, each with the number of the source that decided each layer."""

    def __init__(self, file: File, family: int, schema: Schema) -> None:
        self._path, self._family = file.path, family
        self._starts = Starts(file, family)
        # A layer that no source decides has no column; zeros stand for it.
        none = memoryview(bytes(len(self._starts)))
        self._sources = {
            layer: file.view(layer, "uint8") if layer in file else none for layer in schema.layers
        }
        self._starts.check_lengths(*self._sources.values())

    def around(self, value: int) -> tuple[int, int]:
        """Return first and last address of the interval that holds an address."""
        interval = self._holding(value)
        return self._starts[interval], self._last(interval)

    def layers(self, value: int, sources: Sequence[Source]) -> dict[str, dict[str, Any] | None]:
        """Return by layer the deciding source at an address, and the range that it decides."""
        interval = self._holding(value)
        return {
            layer: self._layer(numbers, interval, sources)
            for layer, numbers in self._sources.items()
        }

    def _holding(self, value: int) -> int:
        interval = self._starts.holding(value)
        if interval < 0:
            raise DatasetError(self._path, "the first interval does not begin at 0", REBUILD)
        return interval

    def _last(self, interval: int) -> int:
        last = self._starts.last(interval)
        if last < self._starts[interval]:
            raise DatasetError(self._path, "the intervals are out of order", REBUILD)
        return last

    def _layer(
        self, numbers: memoryview, interval: int, sources: Sequence[Source]
    ) -> dict[str, Any] | None:
        number = numbers[interval]
        if not number:
            return None
        if number > len(sources):
            raise DatasetError(self._path, f"there is no source {number}", REBUILD)
        source = sources[number - 1]
        begin, end = _run(numbers, interval)
        first, last = self._starts[begin], self._last(end)
        return {
            "source": source.name,
            "date": source.date,
            "licence": source.licence,
            **({"dataset": source.dataset} if source.dataset else {}),
            "range": range_text(self._family, first, last),
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


def _add_values(state: Intervals, explained: dict[str, Any], data: Any) -> None:
    """Add to each decided layer ``"values"``, ``"same_values"`` and ``"prefix"``."""
    around = _Around(state, explained["ip"], data)
    try:
        for layer, decided in explained["layers"].items():
            if decided:
                decided["values"] = around.values(layer)
                first, last = around.same_values(layer, *_ends(decided["range"]))
                decided["same_values"] = range_text(around.family, first, last)
                decided["prefix"] = around.prefix(first, last)
    except IndexError:
        raise outside(state.dataset.path) from None


class _Around:
    """An address, or the IPv4 address that it carries, and the intervals around it."""

    def __init__(self, state: Intervals, ip: str, data: Any) -> None:
        self._state = state
        self.family, self._value = effective(*parse(ip))
        self._starts = state.dataset.starts(self.family)
        self._interval = holding(state, self.family, self._value)
        self._data = data
        self._schema = state.dataset.schema
        self._columns = state.dataset.row_columns(self.family)
        self._of_rows: dict[tuple[str, int], Hashable] = {}

    def values(self, layer: str) -> dict[str, Any]:
        """Return the fields of a layer that are known, as a row of a source states them."""
        names = self._schema.stated[layer]
        if layer.startswith(fields.OWN_PREFIX):
            own = self._own(self._columns[fields.OWN][self._interval])
            values = {name: own[name] for name in names}
        else:
            of = self._schema.by_source_column
            values = {name: fields.value_in(self._data, of[name]) for name in names}
        return {name: value for name, value in values.items() if value is not None}

    def _own(self, row: int) -> dict[str, Any]:
        """Return the own columns in a row, by their names in sources."""
        rows: Any = self._state.dataset.own_rows  # not None: the layer is own
        names = (field.source_column for field in self._schema.own)
        return dict(zip(names, rows.values(row), strict=True))

    def same_values(self, layer: str, first: int, last: int) -> tuple[int, int]:
        """Return the ends of the adjacent addresses in a range with the same values in a layer."""
        # range that the source decides   |-----------------|
        # intervals, with their keys    |--1--|--2--|--2*--|-1-|    * holds the address
        # same values                         |------------|
        begin = end = self._interval
        same = self._key(begin, layer)
        while begin and self._starts[begin] > first and self._key(begin - 1, layer) == same:
            begin -= 1
        while self._starts.last(end) < last and self._key(end + 1, layer) == same:
            end += 1
        return max(first, self._starts[begin]), min(last, self._starts.last(end))

    def _key(self, interval: int, layer: str) -> Hashable:
        """Return a key that is equal for intervals with the same values in a layer."""
        location, network = self._state.rows(self.family, interval)
        if layer == fields.LOCATION:  # each row of the location table has other values
            return location
        is_own = layer.startswith(fields.OWN_PREFIX)
        row = self._columns[fields.OWN][interval] if is_own else network
        if (layer, row) not in self._of_rows:
            record = self._own(row) if is_own else self._state.record(location, row)["network"]
            values = [record.get(name) for name in self._schema.stated[layer]]
            self._of_rows[layer, row] = json.dumps(values)  # a list cannot be a key
        return self._of_rows[layer, row]

    def prefix(self, first: int, last: int) -> str:
        """Return the largest aligned network around the address in a range."""
        return str(aligned_around(self.family, self._value, first, last))


def _ends(text: str) -> tuple[int, int]:
    first, last = (parse(end)[1] for end in text.split("-"))
    return first, last
