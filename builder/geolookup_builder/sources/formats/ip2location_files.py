"""The files of IP2Location and IP2Proxy: which database each is, its range, its region codes.

Several databases have the same number of columns, so the database comes from the
recipe or the file name, and every column is checked against the first rows.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from threading import Lock

import pyarrow as pa
import pyarrow.compute as pc

from geolookup.errors import BuildError
from geolookup_builder.ranges import from_hexadecimal_pairs
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.recipe.mapping import file_option
from geolookup_builder.reference.csv_table import read_table
from geolookup_builder.sources.formats.headerless import COMMAS, headerless_tables
from geolookup_builder.sources.formats.ip2location_layouts import EDITIONS, Edition
from geolookup_builder.sources.formats.vendor_values import located
from geolookup_builder.sources.reading import sniffing
from geolookup_builder.sources.reading.dictionary_columns import look_up, without_rows
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.plans import Planner, Reading, parse_range
from geolookup_builder.sources.reading.products import Fields, Header, Product
from geolookup_builder.sources.reading.reader import SourceTable

MISSING = "-"
_REGION_COLUMNS = ("country_code", "subdivision_name", "code")
_SEPARATOR = "\n"
_Finish = Callable[..., Fields]
#: Batches are parsed in several threads.
_LOCK = Lock()
_COUNTRY, _REGION, _ELEVATION = "country_code", "region_name", "elevation"
#: A count of the build report: in rows without a location it is no value, as 0,0 is no position.
_NO_ELEVATION = "elevation 0 without a country"


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The databases of a product: the columns of each after the range, and their content.

    ``prefix`` begins the names of the databases with a number; ``choices`` is what ``db`` may be.
    ``holds`` are the columns of each word in the name of a commercial file; the name contains
    ``word``.
    """

    product: Product
    prefix: str
    choices: str
    word: str
    holds: Mapping[str, tuple[str, ...]]
    databases: Mapping[str, tuple[str, ...]]
    content: Mapping[str, re.Pattern[str]]

    def tables(
        self, spec: SourceSpec, database_of: Callable[[sniffing.Sample], str | None]
    ) -> Iterator[SourceTable]:
        """Yield the tables of a source.

        ``database_of`` returns the database that rows show, if neither recipe nor name states one.
        """
        database, codes = self._database_of_recipe(spec), _region_codes(spec)
        emptied = {name: Counter[str]() for name in self.databases}

        def plan(member: Member, planner: Planner) -> tuple[str, Reading]:
            rows = sniffing.sample(member)
            table = database or self.database_in_names(member.file_names) or database_of(rows)
            if table is None:
                raise self._unnamed_error(rows)
            return table, self._reading(
                rows, table, planner, partial(_finish, codes=codes, emptied=emptied[table])
            )

        return headerless_tables(spec, (".csv",), tuple(self.databases), plan, emptied)

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
        words = re.split(r"[^A-Z0-9]+", name) if self.word in name else []
        # IP-COUNTRY-REGION-CITY: the databases with exactly these columns.
        names = {column for word in words for column in self.holds.get(word, ())}
        return next((db for db, columns in self.databases.items() if set(columns) == names), None)

    def _reading(
        self, rows: sniffing.Sample, table: str, planner: Planner, finish: _Finish
    ) -> Reading:
        """Return how a file is read; BuildError if the first rows are not of the database."""
        edition = self._edition(rows, table)
        names = (*edition.columns, *self.databases[table])
        sniffing.check_content(rows, names, self.content, table, MISSING)
        # Appended columns repeat the range.
        product = replace(
            self.product,
            ranges=(edition.columns[:2] if len(edition.columns) > 1 else edition.columns,),
            parse=_parser(rows, edition),
            helpers=(_COUNTRY,) if _ELEVATION in names else (),
        )
        reading = planner.plan(Header(rows.member.label, names), product, COMMAS)
        columns = [
            column
            for column, offers in reading.values.items()
            if any(offer.columns == (_ELEVATION,) for offer in offers)
        ]
        return replace(
            reading, product=replace(product, finish=partial(finish, elevations=columns))
        )

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

    def _unnamed_error(self, rows: sniffing.Sample) -> BuildError:
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


def _parser(rows: sniffing.Sample, edition: Edition) -> Callable[..., object]:
    if edition.name == "hexadecimal":
        # 8 digits are 32 bits, 32 digits are 128.
        family = 6 if len(rows.column(1)[0][1]) > 8 else 4
        return partial(from_hexadecimal_pairs, family=family)
    return partial(parse_range, family=sniffing.integer_family(rows))


def _finish(
    rows: pa.RecordBatch,
    fields: Fields,
    codes: Mapping[str, str] | None,
    emptied: Counter[str],
    elevations: Sequence[str],
) -> Fields:
    """Return the fields with region codes, without what the vendor writes in rows without a place.

    ``elevations`` are the own columns that hold the elevation.
    """
    changed = dict(located(rows, fields))
    if elevations:
        country, cells = rows.column(_COUNTRY).cast(pa.string()), rows.column(_ELEVATION)
        is_none = pc.is_in(country, pa.array([MISSING, None]))
        bad = pc.and_(is_none, pc.equal(cells.cast(pa.string()), "0")).fill_null(False)
        changed |= {name: without_rows(fields[name], bad) for name in elevations}
        with _LOCK:
            emptied[_NO_ELEVATION] += bad.true_count
    if codes is not None and _REGION in fields:
        names = (fields[name].cast(pa.string()) for name in (_COUNTRY, _REGION))
        keys = pc.binary_join_element_wise(*names, _SEPARATOR)
        columns = (pa.array(texts, pa.string()) for texts in (codes, codes.values()))
        changed["region_code"] = look_up(keys, *columns)
    return changed


def _region_codes(spec: SourceSpec) -> Mapping[str, str] | None:
    """Read the vendor's table of ISO 3166-2 codes: "CA" by "US", a line break and "California"."""
    path = file_option(spec, "regions")
    if path is None:
        return None
    codes = {}
    for _, row in read_table(spec.base / path, _REGION_COLUMNS):
        country, name, code = (row[column] for column in _REGION_COLUMNS)
        if code not in ("", MISSING):
            codes[country + _SEPARATOR + name] = code.removeprefix(f"{country}-")
    return codes
