"""Own columns in the Python kernel: the rows of addresses in ``own.arrow``.

Own columns can be known in special-purpose space, and the search here does not look at the class of
an address. An address that carries an IPv4 address has the row of that address. Where a dataset
does not declare a column private, its compiler wrote row 0 there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from geolookup.contract.address import effective, parse
from geolookup.contract.fields import OWN, TEXTS
from geolookup.contract.paths import unknown_field
from geolookup.dataset.files import Dataset, outside
from geolookup.errors import InvalidAddressError
from geolookup.kernel.python_rows import Cache, copied

if TYPE_CHECKING:
    from geolookup.contract.envelope import Object
    from geolookup.kernel.python_state import State


class OwnTable:
    """The own columns of a dataset: the row of each interval, and the rows, cached."""

    def __init__(self, dataset: Dataset) -> None:
        columns = dataset.schema.own
        texts: Any = dataset.own_rows  # not None, nor are the rows of the intervals
        self.lists = tuple(field.member for field in columns if field.type == TEXTS)
        self.intervals: dict[int, Any] = {4: dataset.ipv4_own, 6: dataset.ipv6_own}
        self.rows = Cache(texts.members)


def own_table(state: State, call: str) -> OwnTable:
    """Return the own columns; raises ValueError if the dataset has none."""
    if state._own is None:
        raise unknown_field(OWN, call)
    return state._own


def own_members(state: State, ip: object) -> Object | None:
    """Return the own columns of an address; the caller may change it. None if it is malformed."""
    own = own_table(state, OWN)
    try:
        family, value = effective(*parse(ip))
    except InvalidAddressError:
        return None
    try:
        interval = state.interval_ipv4(value) if family == 4 else state.interval_ipv6(value)
        columns: Object = copied(own.rows[own.intervals[family][interval]], own.lists)
    except IndexError:
        raise outside(state.dataset.path) from None
    return columns


def own_value(state: State, ip: object, path: str) -> Any:
    """Return an own column of an address by its path, or all of them; None if it is malformed."""
    columns = own_members(state, ip)
    member = path.partition(".")[2]
    return columns[member] if columns is not None and member else columns
