"""The values that decided an answer, layer by layer, and how far around an address they hold.

Strategy: a dataset keeps which source decides, and the answers; only one built with
``explain = "full"`` keeps the rows of sources. Without them, adjacent intervals with the same
source and the same values are the closest that is known of the range of a row: a source may
state it in several rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from geolookup.contract import fields
from geolookup.contract.address import effective, parse, range_text
from geolookup.dataset.files import outside
from geolookup.dataset.networks import aligned_around, holding

if TYPE_CHECKING:
    from collections.abc import Hashable

    from geolookup.dataset.networks import Intervals

_LOCATION = "location"


def add_values(state: Intervals, explained: dict[str, Any], data: Any) -> None:
    """Add to each decided layer ``"values"``, ``"same_values"`` and ``"prefix"``; see Engine.

    ``data`` is that of the answer. Raises DatasetError where an index of the dataset points
    outside its table.
    """
    around = _Around(state, explained["ip"], data)
    try:
        for layer, decided in explained["layers"].items():
            if decided:
                decided["values"] = around.values(layer)
                first, last = around.same_values(layer, *_ends(decided["range"]))
                decided["same_values"] = range_text(around.family, first, last)
                decided["prefix"] = around.prefix(*_row_ends(decided, around.family, first, last))
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
        self._of_rows: dict[tuple[int, str], Hashable] = {}

    def values(self, layer: str) -> dict[str, Any]:
        """Return the fields of a layer that are known, as a row of a source states them."""
        values = {
            name: fields.value_in(self._data, fields.BY_SOURCE_COLUMN[name])
            for name in fields.STATED[layer]
        }
        return {name: value for name, value in values.items() if value is not None}

    def same_values(self, layer: str, first: int, last: int) -> tuple[int, int]:
        """Return the ends of the adjacent addresses in a range with the same values in a layer."""
        begin = end = self._interval
        same = self._key(begin, layer)
        while begin and self._starts[begin] > first and self._key(begin - 1, layer) == same:
            begin -= 1
        while self._starts.last(end) < last and self._key(end + 1, layer) == same:
            end += 1
        return max(first, self._starts[begin]), min(last, self._starts.last(end))

    def _key(self, interval: int, layer: str) -> Hashable:
        """Return what is equal for intervals with the same values in a layer."""
        location, network = self._state.rows(self.family, interval)
        if layer == _LOCATION:  # each row of the location table has other values
            return location
        if (network, layer) not in self._of_rows:
            members = self._state.record(location, network)["network"]
            key = tuple(members.get(name) for name in fields.STATED[layer])
            self._of_rows[network, layer] = key
        return self._of_rows[network, layer]

    def prefix(self, first: int, last: int) -> str:
        """Return the largest aligned network around the address in a range."""
        return str(aligned_around(self.family, self._value, first, last))


def _ends(text: str) -> tuple[int, int]:
    first, last = (parse(end)[1] for end in text.split("-"))
    return first, last


def _row_ends(decided: dict[str, Any], family: int, first: int, last: int) -> tuple[int, int]:
    """Return the ends of the deciding row, if it is known and of the family; else those given."""
    row = decided.get("row")
    if row is None or parse(row["range"].split("-")[0])[0] != family:
        return first, last
    return _ends(row["range"])
