"""The tables that MaxMind's Blocks files refer to: Locations in one language, and providers.

A source may hold several releases and products at once. The ids of a Blocks file are
looked up first in the tables of its own folder or archive. The rows of Blocks get the columns of
the rows that their ids refer to.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from geolookup.errors import BuildError
from geolookup_builder.ranges import WRONG_CELL_COUNT
from geolookup_builder.sources.reading.dictionary_columns import mark, take
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.keyed_tables import KeyedTable, concatenate, load_keyed
from geolookup_builder.sources.reading.products import header_text
from geolookup_builder.sources.reading.text import unlimited_cells

_ID, _REGISTERED, _PROVIDER = "geoname_id", "registered_country_geoname_id", "isp_id"
#: Columns by the id of a country: "registered:country_iso_code".
_COUNTRIES = ("registered", "represented")
_COUNTRY, _AS = "country_iso_code", "autonomous_system_number"
#: Of "registered_country_geoname_id".
_ID_OF = "_country_geoname_id"
_TRANSLATED = ("subdivision_1_name", "subdivision_2_name", "city_name")
_ENGLISH = "en"


@dataclass(frozen=True, slots=True)
class _File:
    """A table that Blocks refer to by ``key``: locations in a language, or providers."""

    member: Member
    names: tuple[str, ...]
    key: str
    locale: str = ""


class _Near(NamedTuple):
    """The Blocks file that tables are for, and whether it is of cities."""

    blocks: Member
    cities: bool


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
    """The files that Blocks refer to, each read when first needed; names in ``locale``."""

    locale: str
    _files: list[_File] = field(default_factory=list)
    _tables: dict[tuple[int, tuple[str, ...]], KeyedTable] = field(default_factory=dict)

    def add(self, member: Member, names: tuple[str, ...]) -> None:
        """Add a file without ranges; BuildError if it is neither Locations nor providers."""
        if {_ID, "locale_code"} <= set(names):
            self._files.append(_File(member, names, _ID, _locale(member, names)))
        elif _PROVIDER in names:
            self._files.append(_File(member, names, _PROVIDER))
        else:
            problem = f"neither Blocks nor Locations: {header_text(names)}"
            raise BuildError(member.label, problem, line=1, remedy="name other files")

    def columns(self, names: Collection[str]) -> tuple[str, ...]:
        """Return the columns that the rows of a Blocks file with the columns ``names`` get."""
        columns = [
            name
            for file in self._files
            if file.key in names
            for name in (*file.names, *(f"{name}:{file.locale}" for name in file.names))
        ]
        columns += [f"{kind}:{_COUNTRY}" for kind in _COUNTRIES if f"{kind}{_ID_OF}" in names]
        return tuple(name for name in dict.fromkeys(columns) if name not in names)

    def ids(self, names: Collection[str]) -> set[str]:
        """Return the columns of a Blocks file that are ids of other tables."""
        return {_ID, _PROVIDER, *(f"{kind}{_ID_OF}" for kind in _COUNTRIES)}.intersection(names)

    @property
    def has_providers(self) -> bool:
        """Whether there is a table of providers."""
        return any(file.key == _PROVIDER for file in self._files)

    def tables(self, blocks: Member, names: Collection[str], wanted: Collection[str]) -> Joined:
        """Return the tables of a Blocks file, with the ``wanted`` of the columns above."""
        near = _Near(blocks, "latitude" in names)
        locations = self._locations(near, wanted) if _ID in names else None
        providers = self._table(near, _PROVIDER, "", {_AS, *wanted}) if _PROVIDER in names else None
        return Joined(locations, providers)

    def _locations(self, near: _Near, wanted: Collection[str]) -> KeyedTable:
        """Return locations, with English names if the language has none."""
        plain = {_COUNTRY, *(name for name in wanted if ":" not in name)}
        table = self._table(near, _ID, self.locale, plain)
        if table is None:
            of_files = {file.locale for file in self._files if file.key == _ID}
            locales = ", ".join(sorted(of_files)) or "none"
            problem = f"its Locations in locale {self.locale!r} are missing (found: {locales})"
            raise BuildError(near.blocks.label, problem, remedy="add them, or set locale")
        english = self._table(near, _ID, _ENGLISH, plain)
        if self.locale != _ENGLISH and english is not None:
            table = _fill(table, english)
        columns = dict(table.columns)
        for name in wanted:
            key, _, locale = name.partition(":")
            if key in _COUNTRIES:
                columns[name] = table.columns[_COUNTRY]
            elif locale and (other := self._table(near, _ID, locale, {key})):
                columns[name] = other.columns[key].take(pc.index_in(table.keys, other.keys))
        return KeyedTable(table.keys, columns)

    def _table(self, near: _Near, key: str, locale: str, wanted: set[str]) -> KeyedTable | None:
        """Return the rows of all files of a kind, with the ``wanted`` columns that one has.

        Of equal keys the first row is used: of the folder of the Blocks file, of the later file.
        """
        files = [file for file in self._files[::-1] if (file.key, file.locale) == (key, locale)]
        files.sort(
            key=lambda file: (
                _folder(file.member) != _folder(near.blocks),
                ("city_name" in file.names) != near.cities,
            )
        )
        names = {name for file in files for name in file.names}
        columns = tuple(sorted(names & wanted))
        tables = [self._load(file, columns) for file in files]
        return concatenate(tables) if tables else None

    def _load(self, file: _File, columns: tuple[str, ...]) -> KeyedTable:
        # By identity: an archive may hold two members of one name.
        at = id(file.member), columns
        if at not in self._tables:
            self._tables[at] = load_keyed(file.member, file.names, file.key, columns)
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
            columns[name] = take(values, locations.rows(rows.column(f"{kind}{_ID_OF}")))
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
