"""A vendor's files told apart by their columns, and handed on as tables in documented order.

File names are not looked at: teams rename what they fetch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TypeVar

from geolookup.errors import BuildError
from geolookup_builder.recipe import SourceSpec
from geolookup_builder.sources.reading.delimited import first_record
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.layout import Layout
from geolookup_builder.sources.reading.reader import Batch, SourceTable

_File = TypeVar("_File")
_UNKNOWN_COLUMNS = Layout((), frozenset(), frozenset())


@dataclass(frozen=True, slots=True)
class Product:
    """One kind of table a vendor sells: a file that has all of ``marks`` is of it."""

    name: str
    marks: frozenset[str]


def header(member: Member) -> tuple[str, ...]:
    """Return the column names that a CSV states; a name given twice is an error."""
    names, _ = first_record(member, _UNKNOWN_COLUMNS)
    for name in names:
        if names.count(name) > 1:
            raise BuildError(
                member.label, f"column {shown([name])} twice", line=1, remedy="drop one"
            )
    return tuple(names)


def shown(names: Sequence[str]) -> str:
    """Return column names for a message, cut to a readable length."""
    text = ",".join(names)
    return repr(text if len(text) < 80 else text[:80] + "…")


def product_of(names: Sequence[str], products: Sequence[Product]) -> Product | None:
    """Return the first product whose marks are all there."""
    return next((each for each in products if each.marks <= set(names)), None)


def tables(
    spec: SourceSpec,
    products: Sequence[Product],
    files: Sequence[tuple[Product, _File]],
    batches: Callable[[_File], Iterator[Batch]],
    notes: Sequence[str] = (),
) -> Iterator[SourceTable]:
    """Yield a table for each product that has files; the notes go with the first."""
    present = [each for each in products if any(product == each for product, _ in files)]
    for product in present:
        name = spec.name if len(present) == 1 else f"{spec.name} ({product.name})"
        found = [file for each, file in files if each == product]
        note = "; ".join(notes) if product == present[0] else ""
        yield SourceTable(name, chain.from_iterable(map(batches, found)), note)
