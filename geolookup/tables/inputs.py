"""The columns of a table that answers depend on: addresses, and instants if there are any.

They are a table or a batch of their own: ``column`` has the addresses, ``time_column`` the instants
of local time, ``as_of`` the instants of data, as the arguments of ``Engine.enrich``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import date
from typing import Any

import pyarrow as pa

from geolookup.errors import near_match
from geolookup.tables.locate import column_of

#: The names of inputs in the user's table, by argument.
InputNames = Mapping[str, str]


def input_names(column: str, time_column: str | None, as_of: Any) -> InputNames:
    """Return the names that a caller passes; TypeError if ``as_of`` is an instant."""
    if isinstance(as_of, date | int | float):
        problem = "enrich: as_of names a column of instants"
        raise TypeError(f"{problem}; for one instant, call engine.as_of(...).enrich(...)")
    names = {"column": column, "time_column": time_column, "as_of": as_of}
    return {argument: name for argument, name in names.items() if name is not None}


def select(names: InputNames, column: Callable[[str], Any]) -> pa.Table:
    """Return the inputs; ``column`` returns an Arrow column by name, and reads each name once."""
    columns = {name: column_of(column(name)) for name in dict.fromkeys(names.values())}
    return pa.table({argument: columns[name] for argument, name in names.items()})


def single(column: Any, names: InputNames) -> pa.Table:
    """Return addresses without instants as inputs; KeyError if a name of instants was passed."""
    for argument, name in names.items():
        if argument != "column":
            raise KeyError(f"enrich: no column {name!r}; the data are a single column")
    return pa.table({"column": column_of(column)})


def check(names: InputNames, present: Iterable[str], new: Iterable[str]) -> None:
    """Raise KeyError for a missing column, ValueError for a new name that exists already."""
    columns = list(present)
    for argument, name in names.items():
        if name not in columns:
            hint = near_match(name, columns, argument=f"{argument}=")
            raise KeyError(f"enrich: no column {name!r}; {hint}")
        if columns.count(name) > 1:
            raise ValueError(f"enrich: several columns are named {name!r}; rename the others")
    existing = sorted(set(columns) & set(new))
    if existing:
        raise ValueError(f"enrich: column {existing[0]!r} exists already; pass a prefix")
