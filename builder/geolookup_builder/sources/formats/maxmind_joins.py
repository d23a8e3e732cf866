"""The tables that MaxMind's Blocks files refer to: Locations in one language, and providers.

A source may hold several releases and products at once. The ids of a Blocks file are
looked up first in the tables of its own folder or archive. The rows of Blocks get the columns of
the rows that their ids refer to.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from geolookup.errors import BuildError
from geolookup_builder.ranges import WRONG_CELL_COUNT
from geolookup_builder.sources.reading.dictionary_columns import mark, take, with_values
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.keyed_tables import KeyedTable, concatenate, load_keyed
from geolookup_builder.sources.reading.products import header_text
from geolookup_builder.sources.reading.text import unlimited_cells

_ID, _REGISTERED, _PROVIDER = "geoname_id", "registered_country_geoname_id", "isp_id"
#: Columns by the id of a country: "registered:country_iso_code".
_COUNTRIES = ("registered", "represented")
_COUNTRY, _AS = "country_iso_code", "autonomous_system_number"
_TRANSLATED = ("subdivision_1_name", "subdivision_2_name", "city_name")
_ENGLISH = "en"


@dataclass(frozen=True, slots=True)
class _File:
    member: Member
    names: tuple[str, ...]
    locale: str = ""

    @property
    def folder(self) -> str:
        return _folder(self.member)

    @property
    def has_cities(self) -> bool:
        return "city_name" in self.names


@dataclass(frozen=True, slots=True)
class Joined:
    """The tables of one Blocks file; without those that it does not refer to."""

    locations: KeyedTable | None
    providers: KeyedTable | None

    def extend(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return the rows with the columns that their ids refer to."""
        columns = {name: rows.column(name) for name in rows.schema.names}
        if self.locations is not None:
            columns |= _located(rows, self.locations)
        if self.providers is not None:
            columns |= _provided(rows.column(_PROVIDER), self.providers)
        return pa.RecordBatch.from_pydict(columns)


@dataclass(slots=True)
class Joins:
    """The files that Blocks refer to, each read when first needed."""

    locale: str
    _locations: list[_File] = field(default_factory=list)
    _providers: list[_File] = field(default_factory=list)
    _tables: dict[tuple[int, tuple[str, ...]], KeyedTable] = field(default_factory=dict)

    def add(self, member: Member, names: tuple[str, ...]) -> None:
        """Add a file without ranges; BuildError if it is neither Locations nor providers."""
        if {_ID, "locale_code"} <= set(names):
            self._locations.append(_File(member, names, _locale(member, names)))
        elif _PROVIDER in names:
            self._providers.append(_File(member, names))
        else:
            problem = f"neither Blocks nor Locations: {header_text(names)}"
            raise BuildError(member.label, problem, line=1, remedy="name other files")

    def columns(self, names: Collection[str]) -> tuple[str, ...]:
        """Return the columns that the rows of a Blocks file with the columns ``names`` get."""
        columns: dict[str, None] = {}
        if _ID in names:
            for file in self._locations:
                columns |= dict.fromkeys((*file.names, *(f"{n}:{file.locale}" for n in file.names)))
            ids = [kind for kind in _COUNTRIES if f"{kind}_country_geoname_id" in names]
            columns |= dict.fromkeys(f"{kind}:{_COUNTRY}" for kind in ids)
        if _PROVIDER in names:
            columns |= dict.fromkeys(name for file in self._providers for name in file.names)
        return tuple(name for name in columns if name not in names)

    def ids(self, names: Collection[str]) -> set[str]:
        """Return the columns of a Blocks file that are ids of other tables."""
        kinds = {f"{kind}_country_geoname_id" for kind in _COUNTRIES}
        return {_ID, _PROVIDER, *(kinds if _ID in names else ())}.intersection(names)

    @property
    def has_providers(self) -> bool:
        """Whether there is a table of providers."""
        return bool(self._providers)

    def tables(self, blocks: Member, names: Collection[str], wanted: Collection[str]) -> Joined:
        """Return the tables of a Blocks file, with the ``wanted`` of the columns above."""
        locations = self._places(blocks, names, wanted) if _ID in names else None
        files = self._near(self._providers, blocks) if _PROVIDER in names else []
        of_files = [name for file in files for name in file.names]
        columns = tuple(dict.fromkeys((_AS, *(name for name in wanted if name in of_files))))
        tables = [self._load(file, _PROVIDER, columns) for file in files]
        return Joined(locations, concatenate(tables) if tables else None)

    def _places(
        self, blocks: Member, names: Collection[str], wanted: Collection[str]
    ) -> KeyedTable:
        """Return the locations of ``blocks``, with English names if the language has none."""
        has_cities = "latitude" in names
        plain = {name for file in self._locations for name in file.names}.intersection(wanted)
        columns = tuple(sorted({_COUNTRY, *plain}))
        table = self._in(self.locale, blocks, columns, cities=has_cities)
        if table is None:
            locales = ", ".join(sorted({file.locale for file in self._locations})) or "none"
            problem = f"its Locations in locale {self.locale!r} are missing (found: {locales})"
            raise BuildError(blocks.label, problem, remedy="add them, or set locale")
        english = self._in(_ENGLISH, blocks, columns, cities=has_cities)
        if self.locale != _ENGLISH and english is not None:
            table = _fill(table, english)
        others = dict(table.columns)
        for name in wanted:
            key, _, locale = name.partition(":")
            if locale and key not in _COUNTRIES:
                other = self._in(locale, blocks, (key,), cities=has_cities)
                if other is not None:
                    others[name] = other.columns[key].take(pc.index_in(table.keys, other.keys))
            elif locale:
                others[name] = table.columns[_COUNTRY]
        return KeyedTable(table.keys, others)

    def _in(
        self, locale: str, blocks: Member, columns: tuple[str, ...], *, cities: bool
    ) -> KeyedTable | None:
        files = [file for file in self._locations if file.locale == locale]
        files = self._near(files, blocks, cities=cities)
        tables = [self._load(file, _ID, columns) for file in files]
        return concatenate(tables) if tables else None

    def _near(self, files: Iterable[_File], blocks: Member, *, cities: bool = False) -> list[_File]:
        """Return files in order of precedence: of equal keys the first row is used.

        Those of the folder of ``blocks`` come before others, in each the later ones first.
        """
        folder, near = _folder(blocks), [*files][::-1]
        near.sort(key=lambda file: (file.folder != folder, file.has_cities != cities))
        return near

    def _load(self, file: _File, key: str, columns: tuple[str, ...]) -> KeyedTable:
        # By identity: an archive may hold two members of one name.
        at = id(file.member), columns
        if at not in self._tables:
            self._tables[at] = load_keyed(file.member, file.names, key, columns)
        return self._tables[at]


def _located(rows: pa.RecordBatch, locations: KeyedTable) -> dict[str, pa.DictionaryArray]:
    """Return the location of each row, or the country of registration if it states none.

    An id that is in no Locations file becomes an invalid country: the location is nulled and
    counted like other bad values.
    """
    ids = rows.column(_ID)
    has_id, at = pc.is_valid(ids), locations.rows(ids)
    if _REGISTERED in rows.schema.names:
        country_ids = rows.column(_REGISTERED)
        # Row by row: geoname_id if present, else the id of the registered country.
        at = pc.if_else(has_id, at, locations.rows(country_ids))
        has_id = pc.or_(has_id, pc.is_valid(country_ids))
    encoded = at.dictionary_encode()  # once for all columns
    columns = {}
    for name, values in locations.columns.items():
        kind = name.partition(":")[0]
        if kind in _COUNTRIES:
            country = rows.column(f"{kind}_country_geoname_id")
            found = locations.index.rows(country.dictionary.cast(pa.string()))
            columns[name] = with_values(country, values.take(found))
        else:
            columns[name] = take(values, encoded)
    orphans = pc.and_(has_id, pc.is_null(at))
    if pc.any(orphans).as_py():
        columns[_COUNTRY] = mark(columns[_COUNTRY], orphans, "unknown geoname_id")
    return columns


def _provided(ids: pa.DictionaryArray, providers: KeyedTable) -> dict[str, pa.DictionaryArray]:
    """Return the provider of each row; an unknown id becomes an invalid AS number."""
    at = providers.rows(ids)
    columns = {name: take(values, at) for name, values in providers.columns.items()}
    # An id of 0 is "no provider".
    none = pc.is_in(ids.dictionary, pa.array(["0"])).take(ids.indices)
    orphans = pc.and_(pc.and_not(pc.is_valid(ids), none), pc.is_null(at))
    if pc.any(orphans).as_py():
        columns[_AS] = mark(columns[_AS], orphans, "unknown isp_id")
    return columns


def _folder(member: Member) -> str:
    # "a.zip!x/y.csv" gives "a.zip!x/".
    end = max(map(member.label.rfind, "/\\!")) + 1
    return member.label[:end]


def _locale(member: Member, names: tuple[str, ...]) -> str:
    """Return the language of the first row; empty if there is no row."""
    with member.open() as stream, unlimited_cells():
        text = io.TextIOWrapper(stream, "utf-8-sig", errors="replace", newline="")
        rows = filter(None, csv.reader(text))
        next(rows, None)
        first = next(rows, None)
    if first is None:
        return ""
    if len(first) != len(names):
        raise BuildError(member.label, WRONG_CELL_COUNT, line=2, remedy="fetch it again")
    return first[names.index("locale_code")]


def _fill(locations: KeyedTable, english: KeyedTable) -> KeyedTable:
    """Return the chosen locations, with English names if they have none, then the English."""
    at = pc.index_in(locations.keys, english.keys)
    names = {
        name: pc.coalesce(locations.columns[name], english.columns[name].take(at))
        for name in _TRANSLATED
        if name in locations.columns
    }
    return concatenate([KeyedTable(locations.keys, {**locations.columns, **names}), english])
