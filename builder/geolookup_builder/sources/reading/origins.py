"""The origin AS of a route, from its AS path; of default routes there is none.

It is the last AS of the path; prepending repeats it. A set there has several AS and no origin,
unless it has one (RFC 6811, section 2; RFC 9774). An AS number that IANA reserves is passed
over: behind it is a customer whose provider originates the route on the Internet.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from geolookup.contract.address import MAX
from geolookup.dataset.intervals import Addresses, Bools
from geolookup_builder.ranges import ParsedRanges
from geolookup_builder.sources.reading.dictionary_columns import marked

#: No AS; RFC 7607 reserves it.
NONE = 0
#: First and last of IANA's special-purpose AS numbers: reserved (RFC 7607, 6793, 7300),
#: documentation (RFC 5398) and private use (RFC 6996).
SPECIAL = ((0, 0), (23456, 23456), (64496, 131071), (4_200_000_000, 4_294_967_295))
_LAST = r"(?:^|\s)\{?(?P<origin>[0-9]{1,10})\}?\s*$"
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_PARTS = re.compile(rf"\{{[^}}]*\}}|{_NUMBER.pattern}|\S")
_MAX = (1 << 32) - 1
_DEFAULT_ROUTE = "default route"
Path = Sequence[int | Sequence[int]]


def origin(path: Path) -> int:
    """Return the origin of a path, whose sets are sequences; NONE where it has no one origin."""
    if path and isinstance(path[-1], int) and not _special(path[-1]):  # of most routes
        return path[-1]
    for part in reversed(path):
        members = {part} if isinstance(part, int) else set(part)
        public = members if len(members) > 1 else {each for each in members if not _special(each)}
        if public:
            return public.pop() if len(public) == 1 else NONE
    return NONE


@lru_cache(1 << 17)
def _special(asn: int) -> bool:
    return asn > _MAX or any(first <= asn <= last for first, last in SPECIAL)


def origins(paths: pa.Array) -> NDArray[np.uint32]:
    """Return the origins of distinct paths, as text with sets in braces; NONE where none."""
    found = pc.struct_field(pc.extract_regex(paths, _LAST), "origin")
    numbers = np.asarray(pc.fill_null(found.cast(pa.uint64()), 0))
    numbers = np.where(numbers > _MAX, 0, numbers).astype(np.uint32)
    rest = np.flatnonzero(_is_special(numbers))  # few, and paths that the pattern does not match
    texts = paths.take(pa.array(rest)).to_pylist()
    numbers[rest] = [origin(_parsed(text or "")) for text in texts]
    return numbers


def _is_special(numbers: NDArray[Any]) -> Bools:
    found: Bools = np.zeros(len(numbers), bool)
    for first, last in SPECIAL:
        found |= (numbers >= first) & (numbers <= last)
    return found


def _parsed(text: str) -> Path:
    """Return the parts of a path; what is neither a number nor a set is an empty set."""
    parts = _PARTS.findall(text)
    return [
        _number(part) if _NUMBER.fullmatch(part) else [*map(_number, _NUMBER.findall(part))]
        for part in parts
    ]


def _number(text: str) -> int:
    """Return an AS number in digits, or in two halves (asdot, RFC 5396)."""
    high, _, low = text.rpartition(".")
    return (int(high or 0) << 16) + int(low)


def without_default_routes(ranges: ParsedRanges, asn: pa.DictionaryArray) -> pa.DictionaryArray:
    """Return the AS numbers of ranges, with those of default routes invalid.

    A default route says nothing about an address; the compiler nulls and counts what is invalid.
    """
    defaults = _default_routes(ranges)
    return marked(asn, pa.array(defaults), _DEFAULT_ROUTE) if defaults.any() else asn


def _default_routes(ranges: ParsedRanges) -> Bools:
    found: Bools = np.zeros(len(ranges.family), bool)
    for family in (4, 6):
        ends = Addresses.of(6, [0, MAX[family]])
        whole = ranges.first.equals(ends[:1]) & ranges.last.equals(ends[1:])
        found |= (ranges.family == family) & whole
    return found
