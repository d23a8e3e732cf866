"""The columns of a table that answers depend on: addresses, and instants if there are any."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date
from typing import Any

from geolookup.errors import near_match


@dataclass(frozen=True, slots=True)
class Inputs:
    """Columns of n rows, or their types: addresses, instants of local time, instants of data."""

    addresses: Any
    instants: Any = None  # None: one instant for all rows
    as_of: Any = None  # None: all rows are answered from one generation


def for_each(function: Callable[[Any], Any], inputs: Inputs) -> Inputs:
    """Return the results of a function for the inputs; one that serves twice is read once."""
    instants = None if inputs.instants is None else function(inputs.instants)
    if inputs.as_of is None or inputs.as_of is inputs.instants:
        as_of = None if inputs.as_of is None else instants
    else:
        as_of = function(inputs.as_of)
    return Inputs(function(inputs.addresses), instants, as_of)


@dataclass(frozen=True, slots=True)
class InputNames:
    """The names of ``Inputs`` in a table."""

    column: str
    time_column: str | None = None
    as_of: str | None = None

    def distinct(self) -> list[str]:
        """Return each name once."""
        names = (self.column, self.time_column, self.as_of)
        return list(dict.fromkeys(name for name in names if name is not None))

    def select(self, column: Callable[[str], Any]) -> Inputs:
        """Return the columns, each read once by name."""
        columns = {name: column(name) for name in self.distinct()}
        return Inputs(
            columns[self.column],
            None if self.time_column is None else columns[self.time_column],
            None if self.as_of is None else columns[self.as_of],
        )

    def check(self, present: Iterable[str], new: Iterable[str]) -> None:
        """Raise KeyError for a missing column, ValueError for a new name that exists already."""
        names = list(present)
        inputs = {"column": self.column, "time_column": self.time_column, "as_of": self.as_of}
        for argument, name in inputs.items():
            if name is None:
                continue
            if name not in names:
                hint = near_match(name, names, argument=f"{argument}=")
                raise KeyError(f"enrich: no column {name!r}; {hint}")
            if names.count(name) > 1:
                problem = f"several columns are named {name!r}"
                raise ValueError(f"enrich: {problem}; rename the others")
        existing = sorted(set(names) & set(new))
        if existing:
            raise ValueError(f"enrich: column {existing[0]!r} exists already; pass a prefix")

    def check_single(self) -> None:
        """Raise KeyError for a column of instants: the data are a single column."""
        name = self.as_of if self.time_column is None else self.time_column
        if name is not None:
            raise KeyError(f"enrich: no column {name!r}; the data are a single column")


def check_as_of(as_of: Any) -> None:
    """Raise TypeError for an instant: ``as_of`` is the name of a column."""
    if isinstance(as_of, date | int | float):
        problem = "enrich: as_of names a column of instants"
        raise TypeError(f"{problem}; for one instant, call engine.as_of(...).enrich(...)")
