"""The tables that MaxMind's Blocks files refer to: Locations in one language, and providers.

A source may hold several releases and products at once. The ids of a Blocks file are
looked up first in the tables of its own folder or archive.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow.compute as pc

from geolookup.errors import BuildError
from geolookup_builder.ranges import WRONG_CELL_COUNT
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.own_values import (
    Offer,
    Offers,
    OwnRequest,
    offered,
    stated,
)
from geolookup_builder.sources.reading.text import unlimited_cells
from geolookup_builder.sources.reading.vendor_files import (
    KeyedTable,
    concatenate,
    header_text,
    load_keyed,
)

#: The field of each column of a Locations file.
LOCATION_FIELDS = {
    "continent_code": "continent_code",
    "country_iso_code": "country_code",
    "subdivision_1_iso_code": "region_code",
    "subdivision_1_name": "region_name",
    "city_name": "city_name",
    "time_zone": "time_zone",
}
#: The field of each column of Enterprise's ISP file, and of the ISP, ASN and other products.
PROVIDER_FIELDS = {
    "isp": "isp",
    "organization": "organization",
    "autonomous_system_number": "asn",
    "autonomous_system_organization": "asn_organization",
    "connection_type": "connection_type",
    "user_type": "user_type",
}
_TRANSLATED = ("subdivision_1_name", "subdivision_2_name", "city_name")
#: The own columns of Locations; a colon precedes the language of the file.
_LOCATION_OFFERS: Offers = {
    "metro_code": stated("metro_code"),
    "subdivision_2_code": stated("subdivision_2_iso_code"),
    "subdivision_2_name": stated("subdivision_2_name"),
    "city_name_LANG": stated("city_name:LANG"),
    "region_name_LANG": stated("subdivision_1_name:LANG"),
    "country_name_LANG": stated("country_name:LANG"),
}
#: The own columns of Enterprise's ISP file.
_PROVIDER_OFFERS: Offers = {
    "mcc": stated("mobile_country_code"),
    "mnc": stated("mobile_network_code"),
    "usage_type": stated("user_type"),
}
#: The own columns of all these tables.
JOINED = frozenset([*_LOCATION_OFFERS, *_PROVIDER_OFFERS])
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


@dataclass(slots=True)
class Joins:
    """The files that Blocks refer to, each read when first needed."""

    locale: str
    own: OwnRequest
    _locations: list[_File] = field(default_factory=list)
    _providers: list[_File] = field(default_factory=list)
    _tables: dict[str, KeyedTable] = field(default_factory=dict)

    def add(self, member: Member, names: tuple[str, ...]) -> None:
        """Add a file without ranges; BuildError if it is neither Locations nor providers."""
        if {"geoname_id", "locale_code"} <= set(names):
            self._locations.append(_File(member, names, _locale(member, names)))
        elif "isp_id" in names:
            self._providers.append(_File(member, names))
        else:
            problem = f"neither Blocks nor Locations: {header_text(names)}"
            raise BuildError(member.label, problem, line=1, remedy="name other files")

    def locations(self, blocks: Member, *, cities: bool) -> KeyedTable:
        """Return the locations of ``blocks``, with English names if the language has none."""
        table = self._in(self.locale, blocks, cities)
        if table is None:
            locales = ", ".join(sorted({file.locale for file in self._locations})) or "none"
            problem = f"its Locations in locale {self.locale!r} are missing (found: {locales})"
            raise BuildError(blocks.label, problem, remedy="add them, or set locale")
        english = self._in(_ENGLISH, blocks, cities) if self.locale != _ENGLISH else None
        table = table if english is None else _fill(table, english)
        return self._with_own_locations(table, blocks, cities)

    def _with_own_locations(self, table: KeyedTable, blocks: Member, cities: bool) -> KeyedTable:
        """Return the locations with own columns, and without others that no field holds."""
        columns = {name: table.columns[name] for name in LOCATION_FIELDS}
        for name, offer in self._own_locations().items():
            key, _, locale = offer.columns[0].partition(":")
            other = self._in(locale, blocks, cities) if locale else table
            if other is not None:
                columns[name] = other.columns[key].take(pc.index_in(table.keys, other.keys))
        return KeyedTable(table.keys, columns)

    def _own_locations(self) -> dict[str, Offer]:
        return self.own.choose(_LOCATION_OFFERS, self._location_names())

    def _location_names(self) -> set[str]:
        """Return the columns of the Locations files, also with the language of the file."""
        names = {name for file in self._locations for name in file.names}
        return names.union(
            f"{name}:{file.locale}" for file in self._locations for name in file.names
        )

    def offers(self, *, locations: bool, providers: bool) -> tuple[str, ...]:
        """Return the own columns of the tables that a Blocks file refers to."""
        names = self._location_names() if locations else set[str]()
        of_providers = {name for file in self._providers for name in file.names}
        of_providers = of_providers if providers else set()
        return (*offered(_LOCATION_OFFERS, names), *offered(_PROVIDER_OFFERS, of_providers))

    def _in(self, locale: str, blocks: Member, cities: bool) -> KeyedTable | None:
        # Later files first; the sort is stable, so files of the same folder come before the others
        # in that order. Of equal keys the first row is used.
        files = [file for file in self._locations[::-1] if file.locale == locale]
        files.sort(key=lambda file: (file.folder != _folder(blocks), file.has_cities != cities))
        own = [offer.columns[0].partition(":")[0] for offer in self._own_locations().values()]
        names = tuple(dict.fromkeys((*LOCATION_FIELDS, *own)))
        tables = [self._load(file, "geoname_id", names) for file in files]
        return concatenate(tables) if tables else None

    def providers(self, blocks: Member) -> KeyedTable | None:
        """Return the providers of ``blocks``; None without a table of them."""
        files = self._providers[::-1]
        files.sort(key=lambda file: file.folder != _folder(blocks))
        names = {name for file in files for name in file.names}
        own = {
            name: offer.columns[0]
            for name, offer in self.own.choose(_PROVIDER_OFFERS, names).items()
        }
        columns = tuple(dict.fromkeys((*PROVIDER_FIELDS, *own.values())))
        tables = [self._load(file, "isp_id", columns) for file in files]
        return _with_own_providers(concatenate(tables), own) if tables else None

    def _load(self, file: _File, key: str, columns: tuple[str, ...]) -> KeyedTable:
        # By identity: an archive may hold two members of one name.
        number = str(id(file.member))
        if number not in self._tables:
            self._tables[number] = load_keyed(file.member, file.names, key, columns)
        return self._tables[number]


def _with_own_providers(table: KeyedTable, own: Mapping[str, str]) -> KeyedTable:
    fields = {name: table.columns[name] for name in PROVIDER_FIELDS}
    own_columns = {name: table.columns[key] for name, key in own.items()}
    return KeyedTable(table.keys, {**fields, **own_columns})


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
