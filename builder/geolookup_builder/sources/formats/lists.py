"""Files with a row a line: prefixes, Tor's exits, geofeeds, statistics of registries, routes.

One pattern splits each line; its named groups are the columns of the file. A line that does not
match it is a row without a range, which is rejected.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

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
from geolookup_builder.sources.reading import sniffing, text
from geolookup_builder.sources.reading.delimited import batches
from geolookup_builder.sources.reading.dictionary_columns import mark, with_values
from geolookup_builder.sources.reading.inputs import Member, members
from geolookup_builder.sources.reading.plans import Planner
from geolookup_builder.sources.reading.products import Fields, Header, Offer, Product
from geolookup_builder.sources.reading.reader import SourceFormat, SourceTable, in_first_lines
from geolookup_builder.sources.reading.sniffing import Detection, Opening

_COMMENTED = text.line_layout("[ \t]*[#;]")


@dataclass(frozen=True, slots=True)
class _Lines:
    """How lines are read: those that ``layout`` does not mask are split by ``pattern``.

    ``clean`` changes each part; parts in ``counted`` are counted by these words. ``suffixes`` are
    of files in archives and folders. A file whose first line does not begin as ``first`` is refused
    with a remedy. A file is detected by ``row``, which most of its lines match, or by ``first``.
    """

    product: Product
    pattern: str
    layout: text.Layout
    suffixes: tuple[str, ...]
    row: str = ""
    clean: Callable[[pa.Array], pa.Array] = lambda part: part
    counted: Mapping[str, str] = field(default_factory=dict)
    first: str = ""
    remedy: str = ""

    def read(self, spec: SourceSpec) -> Iterator[SourceTable]:
        """Yield the one table of a source, whose files are all read alike."""
        planner, encoding = Planner(spec), text.encoding_option(spec)
        header = Header(spec.path, tuple(re.compile(self.pattern).groupindex))
        reading = planner.plan(header, self.product)
        planner.check()
        ranges, fields = reading.ranges, reading.layout.fields

        def split(rows: pa.RecordBatch) -> pa.RecordBatch:
            parts = text.line_parts(rows, self.pattern)
            for name, word in self.counted.items():
                count = pc.sum(pc.not_equal(parts[name], "")).as_py() or 0
                planner.cells.emptied.append({word: count})
            cells = {name: self.clean(parts[name]) for name in {*ranges, *fields}}
            texts = {name: cells[name].cast(pa.string()).dictionary_encode() for name in fields}
            return pa.RecordBatch.from_pydict({**cells, **texts})

        layout = replace(self.layout, offered=reading.layout.offered)
        reading, files = replace(reading, layout=layout, prepare=split), []
        for member in members(spec.path, spec.base, self.suffixes):
            utf8 = text.transcode(member, encoding)
            if not self._begins(utf8):
                problem = f"not a file of {self.product.name}"
                raise BuildError(member.label, problem, remedy=self.remedy)
            files.append(("", batches(utf8, reading)))
        yield from planner.tables(files)

    def _begins(self, member: Member) -> bool:
        """Return whether the first line of a file is as in all files of the format."""
        sniffing.check_kind(member, sniffing.TEXT)
        lines = sniffing.first_lines(sniffing.opening(member).start, _COMMENTED)
        return re.match(self.first, next(iter(lines), "")) is not None

    def detect(self, opening: Opening) -> Detection | None:
        """Return the detection of the format by the lines of a file."""
        start = text.transcode(opening.start, None)
        if not self.row:
            return Detection(self.product.name) if self._begins(start) else None
        lines = sniffing.first_lines(start, self.layout)
        matches = [re.fullmatch(self.row, line) is not None for line in lines]
        # The first line must match: a header shows another format.
        is_like = matches[:1] == [True] and 2 * sum(matches) > len(matches)
        return Detection(self.product.name) if is_like else None


_ADDRESS = sniffing.ADDRESS.pattern
# Block lists, the ranges of hosters or of a country: a prefix a line. A list holds addresses only.
# The recipe states their fields.
_PREFIXES = _Lines(
    Product("prefixes", (("network",),), {}),
    # "1.2.3.0/24 ; SBL123" -> "1.2.3.0/24"
    r"^\s*(?P<network>[^\s#;]+)\s*(?:[#;].*)?$",
    _COMMENTED,
    (".txt", ".list", ".zone", ".cidr", ".netset", ".csv"),
    # "1.2.3.4;1.2.3.9;CH" is a row of a CSV, not a prefix with a comment.
    rf"\s*({_ADDRESS})(/[0-9]+)?(\s*#.*|\s+;.*|\s*)",
)


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


# Exit addresses of Tor: the bulk list, an address a line, and the exit-addresses file. In the
# second each relay has a few lines; of an exit only the address has a field.
# Format: https://2019.www.torproject.org/tordnsel/exitlist-spec.txt
_EXITS = _Lines(
    Product("exits", (("address",),), offers("user_type='consumer_privacy_network' is_tor='true'")),
    # "ExitAddress 1.2.3.4 2026-01-31 12:00:00" -> "1.2.3.4"; also a plain address.
    r"^\s*(?:ExitAddress\s+)?(?P<address>[^\s/]+)(?:\s+[0-9-]{10} [0-9:]{8})?\s*$",
    text.line_layout("[ \t]*#", "@type ", "Downloaded ", "ExitNode ", "Published ", "LastStatus "),
    ("",),
)
_EXITS_NAME = re.compile(r"(tor[-_]?(bulk)?[-_]?exit|exit[-_]addresses)", re.IGNORECASE)


def _detect_exits(opening: Opening) -> Detection | None:
    # A plain list of addresses is of this format by its name only.
    has_name = any(map(_EXITS_NAME.match, opening.member.file_names))
    row = rf"ExitAddress\s+({_ADDRESS})\s.*" + rf"|\s*({_ADDRESS})\s*" * has_name
    detection = replace(_EXITS, row=row).detect(opening)
    return detection and replace(detection, has_own_name=True)


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
_FEED_ROW = (
    rf'\s*"?({_ADDRESS})(/[0-9]+)?"?\s*,\s*(("?[A-Za-z]{{2}}"?|"{{1,2}})\s*)?'
    r'(,\s*(("?[A-Za-z]{2}-[A-Za-z0-9]{0,3}"?|"?[A-Za-z0-9]{1,3}"?|"{1,2})\s*)?([,#].*)?|#.*)?'
)


def _unquote(texts: pa.Array) -> pa.Array:
    # (?s): a cell can hold a line break.
    bare = pc.replace_substring_regex(texts.cast(pa.string()), r'(?s)^"(.*)"$', r"\1")
    return pc.utf8_trim_whitespace(pc.replace_substring(bare, '""', '"'))


_FEED = _Lines(
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
        text.line_layout("[ \t]*#"),
        not_utf8='state its encoding in the recipe, such as encoding = "shift_jis"',
    ),
    (".csv", ".txt"),
    _FEED_ROW,
    _unquote,
)


# Delegated statistics of the Internet registries: ranges and the country of registration. Lines
# other than delegations (version, summaries, AS numbers, free and reserved space) are masked. One
# pattern splits the others, since registries mix rows of seven and eight fields. The value beside
# an IPv4 start counts addresses, so an IPv4 range need not be a prefix.
# Source: "RIR statistics exchange format", as the registries publish it.
#: "cc|": any text and its bar.
_RIR_CELL = r"[^|\n]*\|"
_RIR_LAYOUT = text.line_layout(
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


def _day(cells: pa.DictionaryArray) -> pa.DictionaryArray:
    """Return days as 2011-04-11; null for 00000000, and for a row without one."""
    day = r"^(?P<year>[12][0-9]{3})(?P<month>[0-9]{2})(?P<day>[0-9]{2})$"
    parts = pc.extract_regex(cells.dictionary.cast(pa.string()), day).flatten()
    return with_values(cells, pc.binary_join_element_wise(*parts, "-"))


def _delegated(kind: pa.Array, start: pa.Array, value: pa.Array) -> ParsedRanges:
    """Return the ranges: an IPv6 prefix, or an IPv4 start with a number of addresses."""
    has_count = pc.equal(kind, "ipv4")
    ranges = from_networks(pc.if_else(has_count, start, text.prefix_texts(start, value)))
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


_DELEGATIONS = _Lines(
    Product(
        "delegations",
        (("kind", "start", "value"),),
        {
            # What registries write for an unknown country, and for one of several.
            "country_code": known("country", missing="(?i:ZZ|EU|AP)"),
            "rir_date": Offer(("date",), _day),
            **offers("rir=registry rir_status=status"),
        },
        parse=_delegated,
    ),
    _RIR_PATTERN,
    _RIR_LAYOUT,
    ("-latest", ".txt"),
    first=r"2(\.[0-9]+)?\|[a-z]+\||[a-z]+\|[^|]*\|(asn|ipv4|ipv6)\|",
    remedy="name a delegated or delegated-extended file as the registry publishes it",
)


# Routing tables reduced to prefix and origin AS: CAIDA's pfx2as and pyasn's files. The compiler
# resolves nested prefixes.
def _without_defaults(rows: pa.RecordBatch, fields: Fields) -> Fields:
    """Return the AS numbers; those of default routes are invalid, to be nulled and counted.

    A default route says nothing about an address.
    """
    defaults = pc.fill_null(pc.match_substring_regex(rows.column("length"), r"^\s*0\s*$"), False)
    return {**fields, "asn": mark(fields["asn"], defaults, "default route")}


_ROUTES = _Lines(
    Product(
        "origins",
        (("prefix", "length"),),
        offers("asn=first,asn"),
        parse=lambda *parts: from_networks(text.prefix_texts(*parts)),
        finish=_without_defaults,
    ),
    # "1.0.0.0", "24", "13335" of CAIDA, "1.0.0.0/24", "13335" of pyasn. Of several origins
    # (``3356_174``) and of AS sets (``{10,20}``) the first AS is used.
    r"^(?P<prefix>[^\t/]*)[\t/](?P<length>[^\t/]*)\t"
    r"(?:\{?(?P<first>[0-9]{1,10})[_,][0-9_,{}]*|(?P<asn>[^\t]*))$",
    text.line_layout("[;#]"),
    (".pfx2as", ".dat", ".txt", ".tsv"),
    r"[0-9A-Fa-f]*[.:][0-9A-Fa-f.:]*[\t/][0-9]+\t[0-9{][0-9_,{}]*",
    counted={"first": "further origins"},
    first=r"[0-9A-Fa-f]*[.:][0-9A-Fa-f.:]*[\t/][^\t/]*\t[^\t]*",
    remedy="give prefix, length and AS, or prefix/length and AS, with tabs between",
)

CIDR_LIST = SourceFormat(
    "cidr-list",
    frozenset({"values"}),
    _read_prefixes,
    _PREFIXES.detect,
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
GEOFEED = SourceFormat("geofeed", frozenset({"encoding"}), _FEED.read, _FEED.detect)
PFX2AS = SourceFormat(
    "pfx2as",
    frozenset(),
    _ROUTES.read,
    _ROUTES.detect,
    # pyasn names the table that it converted: "; Original file : data/rib.20140513.0600.bz2".
    in_first_lines(r"(?m)^; Original file *:[^\r\n]{0,200}?\.([0-9]{8})\.[0-9]{4}"),
)
RIR = SourceFormat(
    "rir",
    frozenset(),
    _DELEGATIONS.read,
    _DELEGATIONS.detect,
    # The last day in the version line: 2|ripencc|1700693999|260000|19830705|20231122|+0100.
    in_first_lines(r"(?m)^2(?:\.[0-9])?\|[a-z]+\|[0-9]*\|[0-9]*\|[0-9]*\|([0-9]{8})\|"),
    (_DELEGATIONS.product,),
)
