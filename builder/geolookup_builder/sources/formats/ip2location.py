"""IP2Location's CSV files: DB1 to DB26 and ASN, IPv4 and IPv6, all editions of the range.

Several databases have the same number of columns, so the database comes from the
recipe or the file name, and every column is checked against the first rows. The IPv4
space that an IPv6 file repeats as IPv4-mapped addresses is folded by the compiler.
The time zone column is an offset that includes summer time; it identifies no zone and
is not read.

IP2Proxy's files share the catalogue of databases, the editions (how a range is written) and the
codes of regions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from geolookup.errors import BuildError
from geolookup_builder.ranges import ParsedRanges, from_hexadecimal_pairs, from_networks, from_pairs
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.reference.csv_table import read_table
from geolookup_builder.sources.formats.ip2location_layouts import (
    CONTENT,
    DATABASES,
    EDITIONS,
    HOLDS,
    Edition,
)
from geolookup_builder.sources.reading import sniffing
from geolookup_builder.sources.reading.dictionary_columns import (
    look_up,
    without_null_island,
)
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.own_values import Offers, words
from geolookup_builder.sources.reading.reader import SourceFormat, SourceTable
from geolookup_builder.sources.reading.sniffing import Detection, Opening, sample_without_header
from geolookup_builder.sources.reading.text import Layout
from geolookup_builder.sources.reading.vendor_files import (
    Plan,
    file_option,
    planned_tables,
    stated_fields,
)

MISSING = "-"
_REGION_COLUMNS = ("country_code", "subdivision_name", "code")
_SEPARATOR = "\n"
Ranges = Callable[[pa.RecordBatch], ParsedRanges]


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The databases of a product: the columns of each after the range, and their content.

    ``prefix`` begins the names of the databases with a number; ``choices`` is what ``db`` may be.
    ``holds`` are the columns of each word in the name of a commercial file; the name contains
    ``product``.
    """

    prefix: str
    choices: str
    product: str
    holds: Mapping[str, tuple[str, ...]]
    databases: Mapping[str, tuple[str, ...]]
    content: Mapping[str, re.Pattern[str]]

    def tables(
        self,
        spec: SourceSpec,
        plan: Callable[[Member, str | None, Regions | None], Plan],
        offers: Offers,
    ) -> Iterator[SourceTable]:
        """Yield the tables of a source.

        ``plan`` takes a file, and the database and the codes of regions that the recipe states.
        ``offers`` are the own columns of the product.
        """
        database, codes = self._database_of_recipe(spec), _regions(spec)
        order = tuple(self.databases)
        yield from planned_tables(
            spec, (".csv",), order, lambda member: plan(member, database, codes), offers
        )

    def _database_of_recipe(self, spec: SourceSpec) -> str | None:
        """Return the database that the recipe states: ``db = 11`` or ``db = "ASN"``."""
        stated_db = spec.options.get("db")
        if stated_db is None:
            return None
        # ``type(...) is int``: true would be the database "DB1".
        name = f"{self.prefix}{stated_db}" if type(stated_db) is int else str(stated_db).upper()
        if name not in self.databases:
            problem = f"source.db is {stated_db!r}"
            raise BuildError(spec.recipe, problem, remedy=f"write {self.choices}")
        return name

    def database_in_names(self, names: Sequence[str]) -> str | None:
        """Return the database that one of these file names states: DB11, or its columns."""
        for name in map(str.upper, names):
            # "IP2LOCATION-LITE-DB11.CSV" has DB11; "MYDB11" and "DB111" have none.
            match = re.search(rf"(?<![A-Z0-9]){self.prefix}([0-9]{{1,2}})(?![0-9])", name)
            database = f"{self.prefix}{int(match[1])}" if match else self._database_by_columns(name)
            if database in self.databases:
                return database
        return None

    def _database_by_columns(self, name: str) -> str | None:
        """Return the database of a name such as ``IP-COUNTRY-REGION-CITY.CSV``."""
        words = re.split(r"[^A-Z0-9]+", name) if self.product in name else []
        # IP-COUNTRY-REGION-CITY: the databases with exactly these columns.
        names = {column for word in words for column in self.holds.get(word, ())}
        return next((db for db, columns in self.databases.items() if set(columns) == names), None)

    def layout(
        self, rows: sniffing.Sample, table: str, fields: frozenset[str]
    ) -> tuple[Layout, Ranges]:
        """Return the layout of a file, and the parser of its range.

        Raises BuildError if the first rows are not of the database.
        """
        edition = self._edition(rows, table)
        names = (*edition.columns, *self.databases[table])
        sniffing.check_content(rows, names, self.content, table, MISSING)
        layout = Layout(names, frozenset(edition.columns), fields, header=False)
        return layout, _range_reader(rows, edition)

    def _edition(self, rows: sniffing.Sample, table: str) -> Edition:
        """Return how the range is written; BuildError if the columns do not fit the database."""
        width = len(self.databases[table])
        # Columns of the range: 1 for a network, 2 for its ends, more if they are repeated.
        extra = rows.width - width
        of_width = [edition for edition in EDITIONS if len(edition.columns) == extra]
        remedy = f"correct db in the recipe{self._hint(rows)}"
        if not of_width:
            problem = f"{rows.width} columns, but {table} has {width + 2}"
            raise BuildError(rows.member.label, problem, line=1, remedy=remedy)
        for edition in of_width:
            if sniffing.mismatch(rows, edition.columns, edition.content) is None:
                return edition
        problem = f"no range of addresses in the first {extra} of the columns of {table}"
        raise BuildError(rows.member.label, problem, line=1, remedy=remedy)

    def unnamed_error(self, rows: sniffing.Sample) -> BuildError:
        """Return the error for a file whose name states no database."""
        choices = self.choices.removeprefix("a number from ")
        remedy = f"write db = … in the recipe: {choices}{self._hint(rows)}"
        return BuildError(rows.member.label, "the file name states no database", remedy=remedy)

    def _hint(self, rows: sniffing.Sample) -> str:
        """Return, as the end of a remedy, the databases that fit the first rows."""
        names = self.candidates(rows, self.content)
        return f" (it looks like {' or '.join(names)})" if names else ""

    def candidates(
        self, rows: sniffing.Sample, content: Mapping[str, re.Pattern[str]]
    ) -> list[str]:
        """Return the databases whose columns the first rows fit."""
        names = [
            table
            for table, columns in self.databases.items()
            for edition in EDITIONS
            if len(edition.columns) + len(columns) == rows.width
            and not sniffing.mismatch(rows, edition.columns, edition.content)
            and not sniffing.mismatch(rows, (*edition.columns, *columns), content, MISSING)
        ]
        return list(dict.fromkeys(names))


def _range_reader(rows_seen: sniffing.Sample, edition: Edition) -> Ranges:
    """Return the parser of the range columns; appended columns repeat the range and are ignored."""
    if edition.name == "networks":
        return lambda rows: from_networks(rows.column("cidr"))
    if edition.name == "hexadecimal":
        # 8 digits are 32 bits, 32 digits are 128.
        family = 6 if len(rows_seen.column(1)[0][1]) > 8 else 4
        return lambda rows: from_hexadecimal_pairs(
            rows.column("ip_from"), rows.column("ip_to"), family
        )
    family = sniffing.integer_family(rows_seen)
    return lambda rows: from_pairs(rows.column("ip_from"), rows.column("ip_to"), family)


@dataclass(frozen=True, slots=True)
class Regions:
    """Region codes by ``country_code``, a line break and the name of the region."""

    keys: pa.Array
    codes: pa.Array

    def of(self, fields: Mapping[str, pa.DictionaryArray]) -> pa.DictionaryArray:
        """Return the code of the region that the fields name."""
        names = (fields[name].cast(pa.string()) for name in ("country_code", "region_name"))
        return look_up(pc.binary_join_element_wise(*names, _SEPARATOR), self.keys, self.codes)


def _regions(spec: SourceSpec) -> Regions | None:
    """Read the vendor's table of ISO 3166-2 codes, without the country prefix of a code."""
    path = file_option(spec, "regions")
    if path is None:
        return None
    codes = {}
    for _, row in read_table(spec.base / path, _REGION_COLUMNS):
        country, name, code = (row[column] for column in _REGION_COLUMNS)
        if code not in ("", MISSING):
            # "US-CA" -> "CA", by "US\nCalifornia".
            codes[country + _SEPARATOR + name] = code.removeprefix(f"{country}-")
    return Regions(pa.array(list(codes), pa.string()), pa.array(list(codes.values()), pa.string()))


_FIELDS = {
    "country_code": "country_code",
    "region": "region_name",
    "city": "city_name",
    "latitude": "latitude",
    "longitude": "longitude",
    "zip": "postal_code",
    "isp": "isp",
    "net_speed": "connection_type",
    "weather_station_code": "weather_code",
    "usage_type": "user_type",
    "asn": "asn",
    "as": "asn_organization",
}
_NOTHING = {MISSING: None}
#: A cell for each offered column; an elevation of 0 is unknown.
_OFFERS: Offers = {
    **{
        name: words(name, _NOTHING)
        for name in (
            *("domain", "mcc", "mnc", "mobile_brand", "usage_type", "address_type", "category"),
            *("district", "area_code", "weather_station_name"),
        )
    },
    "elevation": words("elevation", {MISSING: None, "0": None}),
}
#: What distinguishes these files from others of the same width: names, countries in words.
_NAMED = re.compile(r"IP2LOCATION|(?<![A-Z0-9])DB[0-9]{1,2}(?![0-9])|^IP-COUNTRY", re.IGNORECASE)
_DETECTED = {**CONTENT, "country_name": re.compile(r"(?![A-Za-z]{2}-).{4,}")}
_CATALOGUE = Catalogue("DB", 'a number from 1 to 26, or "ASN"', "", HOLDS, DATABASES, CONTENT)


def _read(spec: SourceSpec) -> Iterator[SourceTable]:
    return _CATALOGUE.tables(spec, _plan, _OFFERS)


def _plan(member: Member, database: str | None, codes: Regions | None) -> Plan:
    rows = sniffing.sample(member)
    table = database or _CATALOGUE.database_in_names(member.file_names)
    if table is None:
        raise _CATALOGUE.unnamed_error(rows)
    layout, ranges = _CATALOGUE.layout(rows, table, frozenset(_FIELDS))
    return Plan(table, layout, partial(_meaning, ranges=ranges, codes=codes))


def _meaning(
    rows: pa.RecordBatch, ranges: Ranges, codes: Regions | None
) -> tuple[ParsedRanges, Mapping[str, pa.DictionaryArray]]:
    fields = stated_fields(rows, _FIELDS, MISSING)
    if codes is not None and "region_name" in fields:
        fields["region_code"] = codes.of(fields)
    return ranges(rows), without_null_island(fields)


def _detect(opening: Opening) -> Detection | None:
    rows, names = sample_without_header(opening.start), opening.member.file_names
    candidates, database = (
        _CATALOGUE.candidates(rows, _DETECTED) if rows else [],
        _CATALOGUE.database_in_names(names),
    )
    if database in candidates and any(map(_NAMED.search, names)):
        return Detection(database, has_own_name=True)
    return Detection(" or ".join(candidates)) if candidates else None


FORMAT = SourceFormat(
    "ip2location", frozenset({"db", "regions"}), _read, _detect, offers=frozenset(_OFFERS)
)
