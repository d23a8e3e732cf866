"""The values of prefixes as Python objects, in the shape that ``Engine.get`` has.

``by="asn"`` is a value, ``by="network"`` a dict of the members, ``by=["country", "network"]`` a
tuple of both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, repeat
from typing import Any, NamedTuple

import pyarrow as pa

from geolookup.contract.fields import GROUPS, OWN, Field
from geolookup.contract.paths import names_of, resolve_fields
from geolookup.contract.schema import Schema


class _Part(NamedTuple):
    """The fields of one name: a field, or the members of a group."""

    fields: tuple[Field, ...]
    is_group: bool


class ValueShape:
    """The fields of ``by``, and the shape of the values of a prefix."""

    def __init__(self, by: str | Iterable[str] | None, call: str, schema: Schema) -> None:
        """Raise ValueError for a name that no stored field or group has."""
        self._is_single = isinstance(by, str)
        names = () if by is None else names_of((by,))
        self._parts = [
            _Part(resolve_fields((name,), schema.stored, call), name in (*GROUPS, OWN))
            for name in names
        ]
        fields = chain.from_iterable(part.fields for part in self._parts)
        #: each field once
        self.fields = tuple(dict.fromkeys(fields))

    def values(self, columns: Sequence[pa.Array]) -> Iterator[Any]:
        """Return the values of n prefixes; ``columns`` has n values for each of ``fields``."""
        plain = {field: _plain(column) for field, column in zip(self.fields, columns, strict=True)}
        parts = [
            _objects(part, plain) if part.is_group else iter(plain[part.fields[0]])
            for part in self._parts
        ]
        if self._is_single:
            return parts[0]
        return zip(*parts, strict=True) if parts else repeat(())


def _plain(column: pa.Array) -> list[Any]:
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    values: list[Any] = column.to_pylist()
    return values


def _objects(group: _Part, plain: Mapping[Field, list[Any]]) -> Iterator[dict[str, Any]]:
    """Yield a new dict for each prefix; an unknown optional member is left out, as in answers."""
    members = [field.member for field in group.fields]
    optional = [field.member for field in group.fields if field.optional]
    for row in zip(*(plain[field] for field in group.fields), strict=True):
        values = dict(zip(members, row, strict=True))
        for member in optional:
            if values[member] is None:
                del values[member]
        yield values
