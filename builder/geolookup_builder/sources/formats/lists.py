"""Files with a row a line: plain prefixes, Tor's exits, geofeeds, statistics of registries.

One pattern splits each line; its named groups are the columns of the file. A line that does not
match it is a row without a range, which is rejected.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from geolookup.contract.address import MAX
from geolookup.contract.fields import OWN_PREFIX
from geolookup.dataset.intervals import Addresses
from geolookup.errors import BuildError
from geolookup_builder.ranges import DESCENDING, NOT_ADDRESS, ParsedRanges, from_networks
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.recipe.names import source_column
from geolookup_builder.sources.formats.vendor_values import known, offers
from geolookup_builder.sources.reading import sniffing
from geolookup_builder.sources.reading.delimited import batches
from geolookup_builder.sources.reading.dictionary_columns import with_values
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.plans import Planner
from geolookup_builder.sources.reading.products import ALWAYS, Header, Offer, Product
from geolookup_builder.sources.reading.reader import Batch, SourceFormat, SourceTable, one_table
from geolookup_builder.sources.reading.sniffing import Detection, Opening, lines_match
from geolookup_builder.sources.reading.stated_dates import in_first_lines
from geolookup_builder.sources.reading.text import (
    Layout,
    encoding_option,
    line_layout,
    line_parts,
    prefix_texts,
    transcode,
)

_COMMENTED = line_layout("[ \t]*[#;]")


@dataclass(frozen=True, slots=True)
class Lines:
    """How lines are read: those that ``layout`` does not mask are split by ``pattern``.

    ``clean`` changes each part. ``suffixes`` belong to files in archives and folders. A file whose
    first line does not begin as ``first`` is refused with a remedy.
    """

    product: Product
    pattern: str
    layout: Layout
    suffixes: tuple[str, ...]
    clean: Callable[[pa.Array], pa.Array] = lambda part: part
    first: re.Pattern[str] | None = None
    remedy: str = ""

    def read(
        self, spec: SourceSpec, prepare: Callable[[Member], Member] = lambda member: member
    ) -> Iterator[SourceTable]:
        """Yield the one table of a source, whose files are all read alike."""
        planner = Planner(spec)
        header = Header(spec.path, tuple(re.compile(self.pattern).groupindex))
        reading = planner.plan(header, self.product)
        planner.check()
        ranges, fields = reading.ranges, reading.layout.fields

        def split(rows: pa.RecordBatch) -> pa.RecordBatch:
            parts = line_parts(rows, self.pattern)
            cells = {name: self.clean(parts[name]) for name in {*ranges, *fields}}
            texts = {name: cells[name].cast(pa.string()).dictionary_encode() for name in fields}
            return pa.RecordBatch.from_pydict({**cells, **texts})

        layout = replace(self.layout, offered=reading.layout.offered)
        meaning = replace(reading, prepare=split).meaning

        def batches_of(member: Member) -> Iterator[Batch]:
            if not self.begins(member):
                problem = f"not a file of {self.product.name}"
                raise BuildError(member.label, problem, remedy=self.remedy)
            return batches(prepare(member), layout, meaning)

        return one_table(spec, self.suffixes, batches_of)

    def begins(self, member: Member) -> bool:
        """Return whether the first line of a file is as in all files of the format."""
        if self.first is None:
            return True
        sniffing.check_kind(member, sniffing.TEXT)
        lines = sniffing.first_lines(sniffing.opening(member).start, _COMMENTED)
        return bool(lines) and self.first.match(lines[0]) is not None

    def match(self, opening: Opening, row: re.Pattern[str]) -> bool:
        """Return whether the first and most other lines match ``row``."""
        return lines_match(opening.start, self.layout, row)


_ADDRESS = sniffing.ADDRESS.pattern
# Block lists, the ranges of hosters or of a country: a prefix a line. A list holds addresses only.
# The recipe states their fields.
_PREFIXES = Lines(
    Product("list", (("network",),), {}),
    # "1.2.3.0/24 ; SBL123" -> "1.2.3.0/24"
    r"^\s*(?P<network>[^\s#;]+)\s*(?:[#;].*)?$",
    _COMMENTED,
    (".txt", ".list", ".zone", ".cidr", ".netset", ".csv"),
)
# "1.2.3.4;1.2.3.9;CH" is a row of a CSV, not a prefix with a comment.
_PREFIX_ROW = re.compile(rf"\s*({_ADDRESS})(/[0-9]+)?(\s*#.*|\s+;.*|\s*)")


def _read_prefixes(spec: SourceSpec) -> Iterator[SourceTable]:
    values = spec.options.get("values")
    if not isinstance(values, dict) or not values:
        remedy = 'write values = { user_type = "hosting" }'
        raise BuildError(spec.recipe, "source.values is missing or not a table", remedy=remedy)
    fields = {}
    for name, value in values.items():
        column = source_column(spec.recipe, "source.values", name, spec.schema)
        # An invalid text is nulled in all rows, which ``max_nulled`` refuses.
        if type(value) not in (int, float, str) or value == "":
            problem = f"source.values.{name} cannot be {value!r}"
            raise BuildError(spec.recipe, problem, remedy="correct the value in the recipe")
        fields[column.removeprefix(OWN_PREFIX)] = Offer(constant=str(value))
    return replace(_PREFIXES, product=replace(_PREFIXES.product, values=fields)).read(spec)


def _detect_prefixes(opening: Opening) -> Detection | None:
    return Detection("prefixes, one a line") if _PREFIXES.match(opening, _PREFIX_ROW) else None


# Exit addresses of Tor: the bulk list, an address a line, and the exit-addresses file. In the
# second each relay has a few lines; of an exit only the address has a field.
# Format: https://2019.www.torproject.org/tordnsel/exitlist-spec.txt
_EXITS = Lines(
    Product(
        "exits",
        (("address",),),
        {"user_type": Offer(constant="consumer_privacy_network"), "is_tor": ALWAYS},
    ),
    # "ExitAddress 1.2.3.4 2026-01-31 12:00:00" -> "1.2.3.4"; also a plain address.
    r"^\s*(?:ExitAddress\s+)?(?P<address>[^\s/]+)(?:\s+[0-9-]{10} [0-9:]{8})?\s*$",
    line_layout("[ \t]*#", "@type ", "Downloaded ", "ExitNode ", "Published ", "LastStatus "),
    ("",),
)
_EXIT_ROW = re.compile(rf"ExitAddress\s+({_ADDRESS})\s.*")
_ADDRESS_ROW = re.compile(rf"\s*({_ADDRESS})\s*")
_EXITS_NAME = re.compile(r"(tor[-_]?(bulk)?[-_]?exit|exit[-_]addresses)", re.IGNORECASE)


def _detect_exits(opening: Opening) -> Detection | None:
    if _EXITS.match(opening, _EXIT_ROW):
        return Detection("exit addresses", has_own_name=True)
    has_name = any(map(_EXITS_NAME.match, opening.member.file_names))
    is_list = has_name and _EXITS.match(opening, _ADDRESS_ROW)
    return Detection("bulk exit list", has_own_name=True) if is_list else None


# RFC 8805 geofeeds: locations that operators publish for their own prefixes, often written by hand.
# One pattern splits rows of any width, with blanks, quotes and comments. A row without a location
# is kept: it decides, and hides wider rows.
# "a ""b"" c", or text without comma, hash and quote.
_QUOTED, _PLAIN = r'"(?:[^"]|"")*"', r'(?:[^,#"\s][^,#]*)?'
_CELLS = [
    rf"\s*(?P<{name}>{_QUOTED}|{_PLAIN})\s*"
    for name in ("network", "country", "region", "city", "postal")
]
#: A row as in the RFC, where the region is a code; other vendors state a name there.
#: No repeat of blanks follows another one: that would take quadratic time.
_FEED_ROW = re.compile(
    rf'\s*"?({_ADDRESS})(/[0-9]+)?"?\s*,\s*(("?[A-Za-z]{{2}}"?|"{{1,2}})\s*)?'
    r'(,\s*(("?[A-Za-z]{2}-[A-Za-z0-9]{0,3}"?|"?[A-Za-z0-9]{1,3}"?|"{1,2})\s*)?([,#].*)?|#.*)?'
)


def _unquote(texts: pa.Array) -> pa.Array:
    # (?s): a cell can hold a line break.
    bare = pc.replace_substring_regex(texts.cast(pa.string()), r'(?s)^"(.*)"$', r"\1")
    return pc.utf8_trim_whitespace(pc.replace_substring(bare, '""', '"'))


_FEED = Lines(
    Product(
        "feed",
        (("network",),),
        {
            # "No location" in feeds older than the RFC.
            "country_code": known("country", missing="(?i:ZZ)"),
            **offers("region_code=region city_name=city postal_code=postal"),
        },
    ),
    # Each cell but the first may be missing, with all that follow.
    "^" + "(?:,".join(_CELLS) + "(?:,.*)?" + ")?" * (len(_CELLS) - 1) + "(?:#.*)?$",
    replace(
        line_layout("[ \t]*#"),
        not_utf8='state its encoding in the recipe, such as encoding = "shift_jis"',
    ),
    (".csv", ".txt"),
    _unquote,
)


def _read_feed(spec: SourceSpec) -> Iterator[SourceTable]:
    return _FEED.read(spec, partial(transcode, encoding=encoding_option(spec)))


def _detect_feed(opening: Opening) -> Detection | None:
    utf8 = replace(opening, start=transcode(opening.start, None))
    return Detection("a feed") if _FEED.match(utf8, _FEED_ROW) else None


# Delegated statistics of the Internet registries: ranges and the country of registration. Lines
# other than delegations (version, summaries, AS numbers, free and reserved space) are masked. One
# pattern splits the others, since registries mix rows of seven and eight fields. The value beside
# an IPv4 start counts addresses, so an IPv4 range need not be a prefix.
# Source: "RIR statistics exchange format", as the registries publish it.
#: "cc|": any text and its bar.
_RIR_CELL = r"[^|\n]*\|"
_RIR_LAYOUT = line_layout(
    "[ \t]*#",
    rf"[0-9.]+\|{_RIR_CELL}",  # the version line
    # ripencc|*|ipv4|*|12345|summary
    rf"{_RIR_CELL}\*\|{_RIR_CELL}\*\|[0-9]*\|summary",
    # ripencc|NL|asn|3333|1|...
    rf"{_RIR_CELL}{_RIR_CELL}asn\|",
    # ripencc||ipv4|2.56.0.0|1024||available
    rf"(?:{_RIR_CELL}){{6}}(?:available|reserved|ianapool)",
)
# ripencc|NL|ipv4|193.0.0.0|2048|19930901|allocated: 2,048 addresses
# ripencc|NL|ipv6|2001:610::|32|19990819|allocated: a prefix of length 32
_RIR_PATTERN = (
    r"^(?P<registry>[A-Za-z]+)\|(?P<country>[A-Za-z]{2}|)\|(?P<kind>ipv4|ipv6)\|"
    r"(?P<start>[0-9A-Fa-f.:]+)\|(?P<value>[0-9]{1,10})\|(?P<date>[0-9]*)\|"
    r"(?P<status>allocated|assigned)\s*(?:\|.*)?$"
)
_RIR_FIRST = re.compile(r"2(\.[0-9]+)?\|[a-z]+\||[a-z]+\|[^|]*\|(asn|ipv4|ipv6)\|")
#: What registries write for an unknown country, and for one of several.
_NO_COUNTRIES = "(?i:ZZ|EU|AP)"


def _day(cells: pa.DictionaryArray) -> pa.DictionaryArray:
    """Return days as 2011-04-11; null for 00000000, and for a row without one."""
    texts = cells.dictionary.cast(pa.string())
    days = pc.replace_substring_regex(texts, _DAY, r"\1-\2-\3")
    is_day = pc.match_substring_regex(texts, _DAY)
    return with_values(cells, pc.if_else(is_day, days, pa.scalar(None, pa.string())))


_DAY = "^([12][0-9]{3})([0-9]{2})([0-9]{2})$"


def _delegated(kind: pa.Array, start: pa.Array, value: pa.Array) -> ParsedRanges:
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


_DELEGATIONS = Lines(
    Product(
        "delegations",
        (("kind", "start", "value"),),
        {
            "country_code": known("country", missing=_NO_COUNTRIES),
            "rir": Offer(("registry",)),
            "rir_status": Offer(("status",)),
            "rir_date": Offer(("date",), _day),
        },
        parse=_delegated,
    ),
    _RIR_PATTERN,
    _RIR_LAYOUT,
    ("-latest", ".txt"),
    first=_RIR_FIRST,
    remedy="name a delegated or delegated-extended file as the registry publishes it",
)


def _detect_rir(opening: Opening) -> Detection | None:
    return Detection("delegations") if _DELEGATIONS.begins(opening.start) else None


CIDR_LIST = SourceFormat(
    "cidr-list",
    frozenset({"values"}),
    _read_prefixes,
    _detect_prefixes,
    # Comments of Spamhaus, and of the lists that FireHOL collects.
    in_first_lines(r"(?m)^[;#] *(?:Last-Modified|Source File Date) *:([^\r\n]{1,60})"),
)
TOR = SourceFormat(
    "tor",
    frozenset(),
    _EXITS.read,
    _detect_exits,
    # "Downloaded 2026-01-31 12:00:00", before the lists that are archived.
    in_first_lines(r"(?m)^Downloaded ([0-9]{4}-[0-9]{2}-[0-9]{2})"),
    (_EXITS.product,),
)
GEOFEED = SourceFormat("geofeed", frozenset({"encoding"}), _read_feed, _detect_feed)
RIR = SourceFormat(
    "rir",
    frozenset(),
    _DELEGATIONS.read,
    _detect_rir,
    # The last day in the version line: 2|ripencc|1700693999|260000|19830705|20231122|+0100.
    in_first_lines(r"(?m)^2(?:\.[0-9])?\|[a-z]+\|[0-9]*\|[0-9]*\|[0-9]*\|([0-9]{8})\|"),
    (_DELEGATIONS.product,),
)
