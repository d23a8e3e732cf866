"""Delegated statistics of the Internet registries: ranges and the country of registration.

Lines other than delegations (version, summaries, AS numbers, free and reserved space)
are masked. One pattern splits the others, since registries mix rows of seven and eight
fields. The value beside an IPv4 start counts addresses, so an IPv4 range need not be a
prefix. Source: "RIR statistics exchange format", as the registries publish it.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from geolookup.contract.address import MAX
from geolookup.dataset.intervals import Addresses
from geolookup.errors import BuildError
from geolookup_builder.ranges import DESCENDING, NOT_ADDRESS, ParsedRanges, from_networks
from geolookup_builder.sources.formats.lines import line_table, plan_lines
from geolookup_builder.sources.formats.vendor_values import known
from geolookup_builder.sources.reading.delimited import first_record
from geolookup_builder.sources.reading.dictionary_columns import with_values
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.product_files import offered_columns
from geolookup_builder.sources.reading.products import Offer, Product, stated
from geolookup_builder.sources.reading.reader import SourceFormat
from geolookup_builder.sources.reading.sniffing import Detection, Opening
from geolookup_builder.sources.reading.stated_dates import in_first_lines
from geolookup_builder.sources.reading.text import line_layout, prefix_texts

#: "cc|": any text and its bar.
_CELL = r"[^|\n]*\|"
_COMMENT = "[ \t]*#"
_LAYOUT = line_layout(
    _COMMENT,
    rf"[0-9.]+\|{_CELL}",  # the version line
    # ripencc|*|ipv4|*|12345|summary
    rf"{_CELL}\*\|{_CELL}\*\|[0-9]*\|summary",
    # ripencc|NL|asn|3333|1|...
    rf"{_CELL}{_CELL}asn\|",
    # ripencc||ipv4|2.56.0.0|1024||available
    rf"(?:{_CELL}){{6}}(?:available|reserved|ianapool)",
)
# ripencc|NL|ipv4|193.0.0.0|2048|19930901|allocated: 2,048 addresses
# ripencc|NL|ipv6|2001:610::|32|19990819|allocated: a prefix of length 32
_PATTERN = (
    r"^(?P<registry>[A-Za-z]+)\|(?P<country>[A-Za-z]{2}|)\|(?P<kind>ipv4|ipv6)\|"
    r"(?P<start>[0-9A-Fa-f.:]+)\|(?P<value>[0-9]{1,10})\|(?P<date>[0-9]*)\|"
    r"(?P<status>allocated|assigned)\s*(?:\|.*)?$"
)
_FIRST = re.compile(r"2(\.[0-9]+)?\|[a-z]+\||[a-z]+\|[^|]*\|(asn|ipv4|ipv6)\|")
#: What registries write for an unknown country, and for one of several.
_NO_COUNTRIES = "(?i:ZZ|EU|AP)"


def _day(cells: pa.DictionaryArray) -> pa.DictionaryArray:
    """Return days as 2011-04-11; null for 00000000, and for a row without one."""
    texts = cells.dictionary.cast(pa.string())
    days = pc.replace_substring_regex(texts, _DAY, r"\1-\2-\3")
    is_day = pc.match_substring_regex(texts, _DAY)
    return with_values(cells, pc.if_else(is_day, days, pa.scalar(None, pa.string())))


_DAY = "^([12][0-9]{3})([0-9]{2})([0-9]{2})$"
_RANGE = ("kind", "start", "value")


def _checked(member: Member) -> Member:
    if not _is_delegated(member):
        remedy = "name a delegated or delegated-extended file as the registry publishes it"
        raise BuildError(member.label, "not delegated statistics", remedy=remedy)
    return member


def _is_delegated(member: Member) -> bool:
    cells, _ = first_record(member, line_layout(_COMMENT))
    return _FIRST.match("".join(cells)) is not None


def _ranges(kind: pa.Array, start: pa.Array, value: pa.Array) -> ParsedRanges:
    """Return the ranges: an IPv6 prefix, or an IPv4 start with a number of addresses."""
    has_count = pc.equal(kind, "ipv4")
    prefix = prefix_texts(start, value)
    ranges = from_networks(pc.if_else(has_count, start, prefix))
    ipv4 = np.asarray(has_count.fill_null(False))
    count = np.asarray(pc.fill_null(value, "1").cast(pa.uint64()))
    # 64 bits: 255.255.255.0 + 256 is 2^32, one more than 32 bits hold.
    end = ranges.first.low + count
    reason = ranges.reason.copy()
    # A start of another family than the row states, or an end after the last address.
    reason[(reason == 0) & ((ranges.family == 4) != ipv4)] = NOT_ADDRESS
    reason[(reason == 0) & ipv4 & (end > MAX[4] + 1)] = NOT_ADDRESS
    reason[(reason == 0) & ipv4 & (count == 0)] = DESCENDING
    last = Addresses(np.where(ipv4, end - np.uint64(1), ranges.last.low), ranges.last.high)
    family = np.where(reason == 0, ranges.family, 0).astype(np.uint8)
    return replace(ranges, family=family, last=last, reason=reason)


_PRODUCT = Product(
    "delegations",
    (_RANGE,),
    {
        "country_code": known("country", missing=_NO_COUNTRIES),
        "rir": stated("registry"),
        "rir_status": stated("status"),
        "rir_date": Offer(("date",), _day),
    },
    parse=_ranges,
)
_PLAN = partial(plan_lines, product=_PRODUCT, pattern=_PATTERN, lines=_LAYOUT)


def _detect(opening: Opening) -> Detection | None:
    return Detection("delegations") if _is_delegated(opening.start) else None


#: The last day in the version line: 2|ripencc|1700693999|260000|19830705|20231122|+0100.
_DATE = in_first_lines(r"(?m)^2(?:\.[0-9])?\|[a-z]+\|[0-9]*\|[0-9]*\|[0-9]*\|([0-9]{8})\|")
FORMAT = SourceFormat(
    "rir",
    frozenset(),
    partial(line_table, suffixes=("-latest", ".txt"), plan=_PLAN, prepare=_checked),
    _detect,
    _DATE,
    offered_columns([_PRODUCT]),
)
