"""The options of a recipe that read a delimited text, guessed from the content of its columns.

``check`` proposes them for a file that no format reads, if it can read the file with them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from geolookup_builder.recipe.field_names import near_column
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.sniffing import (
    ADDRESS,
    ALPHA2,
    DELIMITERS,
    INTEGER,
    NETWORK,
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
_DEGREES = re.compile(r"[+-]?[0-9]{1,3}\.[0-9]+")


def guessed_options(member: Member) -> dict[str, Any]:
    """Return delimiter, header and columns of a text; empty if no column holds ranges.

    Raises BuildError if the file is not a delimited text.
    """
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
