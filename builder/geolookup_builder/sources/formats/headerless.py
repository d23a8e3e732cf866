"""Files without a header: DB-IP, sapics, iptoasn, ip2region, each a catalogue of tables.

The recipe, the name of a file or its first rows show its table. The columns of a table are known;
the first rows must fit them. A column is refused if most of its cells do not match its pattern.
Single bad rows are rejected later.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from string import ascii_uppercase

import pyarrow as pa

from geolookup.errors import BuildError
from geolookup_builder.ranges import ParsedRanges, from_hexadecimal_pairs
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.recipe.table import Table
from geolookup_builder.sources.formats.vendor_values import known, located, offers
from geolookup_builder.sources.reading import delimited, sniffing
from geolookup_builder.sources.reading.inputs import Member, members
from geolookup_builder.sources.reading.plans import Planner, parse_range
from geolookup_builder.sources.reading.products import Header, Product, stated
from geolookup_builder.sources.reading.reader import Batch, SourceFormat, SourceTable
from geolookup_builder.sources.reading.sniffing import Detection, Opening, Sample
from geolookup_builder.sources.reading.text import Layout

_COMMAS = Layout((), frozenset(), frozenset(), header=False)
_TABS = replace(_COMMAS, delimiter="\t", quoted=False)
#: An end of a range: an address or an integer.
_END = re.compile(rf"{sniffing.ADDRESS.pattern}|{sniffing.INTEGER.pattern}")
HEXADECIMAL = re.compile(r"[0-9A-Fa-f]{8}|[0-9A-Fa-f]{32}")
Patterns = Mapping[str, re.Pattern[str]]
#: Of vendors whose names of files state nothing.
_NO_NAME = re.compile("(?!)")


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The tables of a vendor, each with the columns after the range; ``;`` separates other orders.

    ``editions`` are how a range can be written: its columns, each with its pattern; a third one
    repeats the range. The option ``option`` of a source states the table, by its name or number.

    ``content`` are the patterns of columns, ``detected`` further ones, without which a file could
    be another vendor's. Names of the vendor's files match ``named``, whose groups state the table.
    ``choice`` is the remedy if nothing shows the table; the first rows may show it unless it is
    ``hidden``. Of several orders of columns that fit, the first is used if they are ``in_order``.
    ``prepare`` changes the rows of a table and counts the values that it removes.
    """

    product: Product
    tables: Mapping[str, str]
    editions: tuple[Patterns, ...]
    content: Patterns
    choice: str
    named: re.Pattern[str] = _NO_NAME
    detected: Patterns = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    layout: Layout = _COMMAS
    hidden: frozenset[str] = frozenset()
    in_order: bool = True
    option: str = ""
    suffix: str = ".csv"
    prepare: Callable[[list[Mapping[str, int]], pa.RecordBatch], pa.RecordBatch] = lambda _, rows: (
        rows
    )

    def source_format(self, name: str) -> SourceFormat:
        """Return the format of the vendor."""
        options = frozenset({self.option} - {""})
        return SourceFormat(name, options, self.read, self.detect, products=(self.product,))

    def read(self, spec: SourceSpec) -> Iterator[SourceTable]:
        """Yield the tables of a source, in order; every file is planned before any is read."""
        table = self._stated(spec)
        planner, files = Planner(spec), list[tuple[str, Iterator[Batch]]]()
        for member in members(spec.path, spec.base, (self.suffix,)):
            rows = self._sample(member)
            name = table or self._table(rows, member.file_names)
            names, edition = self._columns(rows, name)
            ends = tuple(edition)[:2]
            product = replace(self.product, ranges=(ends,), parse=_parser(rows, edition[ends[0]]))
            reading = planner.plan(Header(member.label, names), product, self.layout)
            reading = replace(reading, prepare=partial(self.prepare, planner.cells.emptied))
            files.append((name, delimited.batches(member, reading)))
        planner.check()
        yield from planner.tables(files, self.tables)

    def detect(self, opening: Opening) -> Detection | None:
        """Return the detection of a table by the first rows; the file's name may decide."""
        rows = self._sample(opening.start)
        if not sniffing.RANGE.fullmatch(rows.records[0][1][0]):
            return None
        names, patterns = opening.member.file_names, {**self.content, **self.detected}
        by_name = self._in_names(names)
        if by_name and self._fitting(rows, by_name, patterns):
            return Detection(by_name, has_own_name=True)
        has_own_name = by_name is None and any(map(self.named.search, names))
        shown = self._shown(rows, patterns)
        return Detection(" or ".join(shown), has_own_name) if shown else None

    def _stated(self, spec: SourceSpec) -> str | None:
        """Return the table that the recipe states; BuildError if there is no such table."""
        if (stated := spec.options.get(self.option)) is None:
            return None
        for name in self.tables:
            # "DB11", or its number.
            if str(stated).upper() in (name.upper(), name.lstrip(ascii_uppercase) or name):
                return name
        problem = f"source.{self.option} is {stated!r}"
        raise BuildError(spec.recipe, problem, remedy=self.choice)

    def _sample(self, member: Member) -> Sample:
        return sniffing.sample(member, self.layout.delimiter, quoted=self.layout.quoted)

    def _in_names(self, names: Iterable[str]) -> str | None:
        """Return the table that the names of a file state."""
        matches = filter(None, map(self.named.search, names))
        stated = {"".join(filter(None, match.groups())).upper() for match in matches}
        return next((name for name in self.tables if name.upper() in stated), None)

    def _table(self, rows: Sample, names: Sequence[str]) -> str:
        """Return the table that a file's name states, or that its first rows show."""
        by_name = next(iter(self.tables)) if len(self.tables) == 1 else self._in_names(names)
        if by_name:
            return by_name
        # Of the only one with so many columns, to say which cell does not fit.
        for patterns in ({**self.content, **self.detected}, {}):
            shown = self._shown(rows, patterns)
            if len({self.tables[name] for name in shown}) == 1:
                return shown[0]
        problem = "neither the file name nor the first rows show its table"
        raise BuildError(rows.member.label, problem, remedy=self.choice)

    def _columns(self, rows: Sample, table: str) -> tuple[tuple[str, ...], Patterns]:
        """Return the columns of a file, and how its range is written.

        Raises BuildError if the first rows do not fit the table.
        """
        fitting = self._fitting(rows, table, self.content)
        if len({names for names, _ in fitting}) > 1 and not self.in_order:
            problem = "the order of its columns does not show"
            raise BuildError(rows.member.label, problem, remedy=self.choice)
        if fitting:
            return fitting[0]
        label, edition = f"{self.product.name} {table}", self.editions[0]
        names = (*edition, *self.tables[table].split(";")[0].split())
        patterns = {**self.content, **edition}
        if bad := sniffing.mismatch(rows, names, patterns, label, self.missing):
            raise BuildError(rows.member.label, bad[1], line=bad[0], remedy=self.choice)
        return names, edition

    def _fitting(
        self, rows: Sample, table: str, patterns: Patterns
    ) -> list[tuple[tuple[str, ...], Patterns]]:
        """Return the layouts of a table that the first rows fit: width, range, and patterns."""
        layouts = [
            ((*edition, *order.split()), edition)
            for order in self.tables[table].split(";")
            for edition in self.editions
        ]
        return [
            (names, edition)
            for names, edition in layouts
            if not sniffing.mismatch(rows, names, {**patterns, **edition}, table, self.missing)
        ]

    def _shown(self, rows: Sample, patterns: Patterns) -> list[str]:
        """Return the tables that the first rows fit and may show."""
        fitting = (name for name in self.tables if self._fitting(rows, name, patterns))
        return [name for name in fitting if name not in self.hidden]


def _parser(rows: Sample, kind: re.Pattern[str]) -> Callable[..., ParsedRanges]:
    """Return what parses ends of a kind, by the family that the first rows show."""
    if kind is HEXADECIMAL:
        # 8 digits are 32 bits, 32 digits are 128.
        return partial(from_hexadecimal_pairs, family=6 if len(rows.column(1)[0][1]) > 8 else 4)
    return partial(parse_range, family=sniffing.integer_family(rows))


_RANGE = ("start", "end")
_ADDRESSES = dict.fromkeys(_RANGE, sniffing.ADDRESS)
_ENDS = dict.fromkeys(_RANGE, _END)
_POSITION = ("latitude", "longitude")
_BY_POSITION = 'or read it as format = "csv" with header = false and columns by position'

# DB-IP, Lite and paid. ``ZZ`` and coordinates of 0,0 mean "unknown".
_PLACE = "district city zipcode latitude longitude geoname_id"
_ZONE = "timezone_offset timezone_name weather_code"
_DBIP_TABLES = {
    "location-isp": f"continent country stateprov {_PLACE} {_ZONE} "
    "isp_name as_number connection_type organization_name",
    "location": f"continent country stateprov_code stateprov {_PLACE} {_ZONE}",
    "city-lite": "continent country stateprov city latitude longitude",
    "isp": "continent country isp_name as_number usage_type connection_type organization_name",
    "country": "continent country",
    "country-lite": "country",
    "asn-lite": "as_number as_organization",
}
_DBIP = Catalogue(
    Product(
        "DB-IP",
        (_RANGE,),
        {
            "continent_code": known("continent", missing="ZZ"),
            "country_code": known("country", missing="ZZ"),
            **offers(
                """
                region_code=stateprov_code region_name=stateprov city_name=city postal_code=zipcode
                latitude longitude time_zone=timezone_name weather_code isp=isp_name asn=as_number
                asn_organization=as_organization organization=organization_name connection_type
                user_type=usage_type usage_type district
                """
            ),
            "geoname_id": known("geoname_id", missing="0"),
        },
        unread=("timezone_offset",),
        finish=located,
    ),
    _DBIP_TABLES,
    (_ADDRESSES,),
    {
        "continent": sniffing.ALPHA2,
        "country": sniffing.ALPHA2,
        **dict.fromkeys(_POSITION, sniffing.DEGREES),
        "as_number": sniffing.AS_NUMBER,
    },
    f'write layout = "…" in the recipe, one of {", ".join(_DBIP_TABLES)}, {_BY_POSITION}',
    # The lookahead refuses dbip-country-foo-2026 but not dbip-country-2026-01.
    named=re.compile(rf"dbip-({'|'.join(_DBIP_TABLES)})(?![a-z-]*[a-z])", re.IGNORECASE),
    detected={"continent": re.compile("AF|AN|AS|EU|NA|OC|SA|ZZ")},
    option="layout",
)

# The ip-location-db collection of sapics. The number of columns tells country, AS and city files
# apart. City files have their columns in one of two orders, as in the files and as on the page of
# the collection: the one in which the coordinates have a fraction is used.
#: "52.3740": neither postcodes nor names are numbers with a fraction.
_FRACTION = re.compile(r"[+-]?[0-9]{1,3}\.[0-9]+")
_SAPICS = Catalogue(
    Product(
        "sapics",
        (_RANGE,),
        offers(
            """
            country_code region_name=state1 city_name=city postal_code=postcode latitude longitude
            time_zone=timezone asn asn_organization=organisation subdivision_2_name=state2
            """
        ),
        finish=located,
    ),
    {
        "city": "country_code state1 state2 city postcode latitude longitude timezone;"
        "country_code city state1 state2 latitude longitude postcode timezone",
        "country": "country_code",
        "asn": "asn organisation",
    },
    (_ENDS,),
    {
        "country_code": sniffing.ALPHA2,
        "asn": sniffing.AS_NUMBER,
        **dict.fromkeys(_POSITION, _FRACTION),
    },
    f"name a country, asn or city file, {_BY_POSITION}",
    # These and zones of IANA's database distinguish the files from others of the same width.
    named=re.compile(r"-ipv[46](?:-num)?(?![a-z0-9-])", re.IGNORECASE),
    detected={"timezone": re.compile(r"[A-Z][A-Za-z_]+/.+")},  # "Europe/Paris"
    in_order=False,
)
# iptoasn.com. Quotes in descriptions are plain characters. The country is where the holder of the
# AS is registered; it is read as a location only with ``countries = true``.
_HOLDER = known("country_code", missing="None")
_IPTOASN = Catalogue(
    Product(
        "iptoasn",
        (_RANGE,),
        {
            "asn": stated("AS_number"),
            "asn_organization": known("AS_description", missing="Not routed"),
            "asn_country_code": _HOLDER,
        },
    ),
    {"asn": "AS_number country_code AS_description"},
    (_ENDS,),
    {"AS_number": sniffing.AS_NUMBER, "country_code": sniffing.ALPHA2},
    "name one of its .tsv files",
    missing=("None",),
    layout=_TABS,
    suffix=".tsv",
)


def _read_iptoasn(spec: SourceSpec) -> Iterator[SourceTable]:
    countries = Table(spec.recipe, "source", spec.options).switch("countries")
    product, location = _IPTOASN.product, {"country_code": _HOLDER} if countries else {}
    product = replace(product, values={**product.values, **location})
    return replace(_IPTOASN, product=product).read(spec)


# ip2region's source text: pipes, ``0`` for unknown. The newer layout ends with country codes, the
# older with providers.
_IP2REGION = Catalogue(
    Product(
        "ip2region",
        (_RANGE,),
        offers(
            "country_code=alpha2 region_name=province city_name=city isp=ISP",
            partial(known, missing="0"),
        ),
        unread=("country", "area"),
    ),
    {"regions": "country province city ISP alpha2;country area province city ISP"},
    (_ADDRESSES,),
    {"alpha2": sniffing.ALPHA2},
    "name its text file, not the .xdb made from it",
    missing=("0",),
    layout=replace(_TABS, delimiter="|"),
    suffix=".txt",
)

DBIP = _DBIP.source_format("dbip")
SAPICS = _SAPICS.source_format("sapics")
IPTOASN = replace(
    _IPTOASN.source_format("iptoasn"), options=frozenset({"countries"}), read=_read_iptoasn
)
IP2REGION = _IP2REGION.source_format("ip2region")
