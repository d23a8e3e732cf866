"""The options that a recipe lacks: those that an error suggests, or guessed from a text.

``check`` proposes them for a file that no format reads, if it can read the file with them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from typing import Any

from geolookup.errors import BuildError
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.recipe.names import near_column
from geolookup_builder.sources.reading.cells import LENGTHS
from geolookup_builder.sources.reading.inputs import Member, members
from geolookup_builder.sources.reading.sniffing import (
    ADDRESS,
    ALPHA2,
    DELIMITERS,
    INTEGER,
    NETWORK,
    NearMissError,
    opening,
    sample,
)

_LEAST = 0.9  # of the cells of a column must match
_RANGE = re.compile(rf"({ADDRESS.pattern})(/[0-9]+)?|{INTEGER.pattern}")
#: The content that shows a field.
_CONTENT = {
    "country_code": ALPHA2,
    "asn": re.compile(r"AS[0-9]{1,10}", re.IGNORECASE),
    "time_zone": re.compile(r"[A-Z][A-Za-z]+/[A-Z][A-Za-z_/-]+"),
}
_NETMASK = re.compile("|".join(map(re.escape, LENGTHS)))
_DEGREES = re.compile(r"[+-]?[0-9]{1,3}\.[0-9]+")


def changed(spec: SourceSpec, error: BuildError) -> SourceSpec | None:
    """Return a source with the options that an error suggests, or with guessed ones, or None."""
    options = error.options if isinstance(error, NearMissError) else {}
    if not options.keys() <= spec.options.keys():
        return replace(spec, options={**options, **spec.options})
    is_unread = spec.format == "auto" or isinstance(error, NearMissError)
    if is_unread and spec.format in ("auto", "csv") and "columns" not in spec.options:
        with suppress(BuildError):  # not a delimited text
            first = members(spec.path, spec.base, ("",))[0]
            if guessed := _options(opening(first).start):
                return replace(spec, format="csv", options={**spec.options, **guessed})
    return None


def _options(member: Member) -> dict[str, Any]:
    """Return delimiter, header and columns of a text; empty if no column holds ranges."""
    samples = {delimiter: sample(member, delimiter) for delimiter in DELIMITERS}
    delimiter = max(DELIMITERS, key=lambda one: samples[one].width)
    rows = samples[delimiter]
    first = rows.records[0][1]
    is_header = not any(map(_RANGE.fullmatch, first))
    columns = [
        [cell for _, cell in rows.column(at)[is_header:] if cell] for at in range(rows.width)
    ]
    mapping = dict(_range(columns))
    if not mapping:
        return {}
    for field, at in (*_named(first if is_header else ()), *_shown(columns)):
        if field not in mapping and at not in mapping.values():
            mapping[field] = at
    names = first if is_header else [*range(1, rows.width + 1)]
    options = {} if delimiter == "," else {"delimiter": delimiter}
    header = {} if is_header else {"header": False}
    return {**options, **header, "columns": {field: names[at] for field, at in mapping.items()}}


def _holding(columns: Sequence[Sequence[str]], pattern: re.Pattern[str]) -> list[int]:
    """Return the columns whose cells match a pattern, but for a few."""
    return [
        at
        for at, cells in enumerate(columns)
        if cells and sum(map(bool, map(pattern.fullmatch, cells))) >= _LEAST * len(cells)
    ]


def _range(columns: Sequence[Sequence[str]]) -> Iterator[tuple[str, int]]:
    """Yield the columns of the range: a network, else two addresses, one, or two integers."""
    networks, addresses = _holding(columns, NETWORK), _holding(columns, ADDRESS)
    integers = _holding(columns, INTEGER)
    if networks or len(addresses) == 1:
        yield "network", (networks or addresses)[0]
    elif masks := [at for at in _holding(columns, _NETMASK) if at > addresses[0]]:
        yield from (("network", addresses[0]), ("netmask", masks[0]))
    elif addresses or integers[:2] == [0, 1]:
        yield from zip(("first", "last"), addresses or integers, strict=False)


def _named(names: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Yield the fields that names of other products mean."""
    for at, name in enumerate(names):
        if field := near_column(name):
            yield field, at


def _shown(columns: Sequence[Sequence[str]]) -> Iterator[tuple[str, int]]:
    """Yield the fields that the content shows; coordinates are two columns side by side."""
    for field, pattern in _CONTENT.items():
        yield from ((field, at) for at in _holding(columns, pattern))
    for latitude, longitude in pairwise(_holding(columns, _DEGREES)):
        if longitude == latitude + 1:
            yield from (("latitude", latitude), ("longitude", longitude))
