"""Delegated statistics of the Internet registries: ranges and the country of registration.

Lines other than delegations (version, summaries, AS numbers, free and reserved space)
are masked. One pattern splits the others, since registries mix rows of seven and eight
fields. The value beside an IPv4 start counts addresses, so an IPv4 range need not be a
prefix. Source: "RIR statistics exchange format", as the registries publish it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from geolookup.contract.address import MAX
from geolookup.dataset.intervals import Addresses
from geolookup.errors import BuildError
from geolookup_builder.ranges import DESCENDING, NOT_ADDRESS, ParsedRanges, from_networks
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.sources.reading.delimited import batches, first_record
from geolookup_builder.sources.reading.dictionary_columns import without
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.own_values import Offer, Offers, own_request
from geolookup_builder.sources.reading.reader import (
    Batch,
    Meaning,
    SourceFormat,
    SourceTable,
    one_table,
)
from geolookup_builder.sources.reading.sniffing import Detection, Opening
from geolookup_builder.sources.reading.stated_dates import in_first_lines
from geolookup_builder.sources.reading.text import (
    LINE,
    Layout,
    line_layout,
    line_parts,
    prefix_texts,
)

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
    r"^[A-Za-z]+\|(?P<country>[A-Za-z]{2}|)\|(?P<kind>ipv4|ipv6)\|(?P<start>[0-9A-Fa-f.:]+)\|"
    r"(?P<value>[0-9]{1,10})\|[0-9]*\|(?:allocated|assigned)\s*(?:\|.*)?$"
)
_FIRST = re.compile(r"2(\.[0-9]+)?\|[a-z]+\||[a-z]+\|[^|]*\|(asn|ipv4|ipv6)\|")
#: What registries write for an unknown country, and for one of several.
NO_COUNTRIES = ("ZZ", "EU", "AP")


def _cell(pattern: str) -> Offer:
    """Return the offer of a cell of the lines; the groups of ``pattern`` are joined with hyphens.

    The cell is unknown in lines that the pattern does not match.
    """

    def read(lines: pa.Array) -> pa.DictionaryArray:
        groups = pc.extract_regex(lines, pattern).flatten()
        hyphen = pa.scalar("-", lines.type)
        return pc.binary_join_element_wise(*groups, hyphen).cast(pa.string()).dictionary_encode()

    return Offer((LINE,), read)


#: Some days are 00000000.
_DAY = r"(?P<year>[12][0-9]{3})(?P<month>[0-9]{2})(?P<day>[0-9]{2})"
_OFFERS: Offers = {
    "rir": _cell(r"^(?P<registry>[A-Za-z]+)\|"),
    "rir_status": _cell(r"\|(?P<status>allocated|assigned)\s*(?:\||$)"),
    "rir_date": _cell(rf"^(?:{_CELL}){{5}}{_DAY}\|"),
}


def _read(spec: SourceSpec) -> Iterator[SourceTable]:
    own = own_request(spec)
    layout, meaning = own.extend(_LAYOUT, _meaning, _OFFERS)
    own.check()
    batches_of = partial(_batches, layout=layout, meaning=meaning)
    return one_table(spec, ("-latest", ".txt"), batches_of)


def _batches(member: Member, layout: Layout, meaning: Meaning) -> Iterator[Batch]:
    if not _is_delegated(member):
        remedy = "name a delegated or delegated-extended file as the registry publishes it"
        raise BuildError(member.label, "not delegated statistics", remedy=remedy)
    return batches(member, layout, meaning)


def _is_delegated(member: Member) -> bool:
    cells, _ = first_record(member, line_layout(_COMMENT))
    return _FIRST.match("".join(cells)) is not None


def _meaning(rows: pa.RecordBatch) -> tuple[ParsedRanges, dict[str, pa.DictionaryArray]]:
    parts = line_parts(rows, _PATTERN)
    country = pc.utf8_upper(parts["country"].cast(pa.string())).dictionary_encode()
    return _ranges(parts), {"country_code": without(country, *NO_COUNTRIES)}


def _ranges(parts: dict[str, pa.Array]) -> ParsedRanges:
    """Return the ranges: an IPv6 prefix, or an IPv4 start with a number of addresses."""
    has_count = pc.equal(parts["kind"], "ipv4")
    prefix = prefix_texts(parts["start"], parts["value"])
    ranges = from_networks(pc.if_else(has_count, parts["start"], prefix))
    ipv4 = np.asarray(has_count.fill_null(False))
    count = np.asarray(pc.fill_null(parts["value"], "1").cast(pa.uint64()))
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


def _detect(opening: Opening) -> Detection | None:
    return Detection("delegations") if _is_delegated(opening.start) else None


#: The last day in the version line: 2|ripencc|1700693999|260000|19830705|20231122|+0100.
_DATE = in_first_lines(r"(?m)^2(?:\.[0-9])?\|[a-z]+\|[0-9]*\|[0-9]*\|[0-9]*\|([0-9]{8})\|")
FORMAT = SourceFormat("rir", frozenset(), _read, _detect, _DATE, frozenset(_OFFERS))
