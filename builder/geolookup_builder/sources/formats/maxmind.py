"""MaxMind GeoLite2 and GeoIP2 CSV: Blocks files, joined to their Locations and providers.

Each file is identified by its columns, which are read by name: their order has changed over the
years. The rows of Blocks get the columns of the rows that their ids refer to. A source may hold
several releases and products at once: ids are looked up first in the tables of the folder or
archive of the Blocks file, and in Locations of the recipe's ``locale``, by default English.

The columns of tables count as columns of the Blocks file. ``city_name:de`` is a column of the
German Locations, ``country_iso_code:registered`` one of the location of the registered country.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial

import pyarrow as pa
import pyarrow.compute as pc

from geolookup.errors import BuildError
from geolookup_builder.ranges import from_hexadecimal_pairs
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.sources.formats.vendor_values import NO_FIELD, offers, product
from geolookup_builder.sources.reading import delimited, product_files, sniffing
from geolookup_builder.sources.reading.delimited import KeyedTable, load_keyed
from geolookup_builder.sources.reading.dictionary_columns import mark, take
from geolookup_builder.sources.reading.inputs import Member, members
from geolookup_builder.sources.reading.plans import Planner, Reading, parse_range
from geolookup_builder.sources.reading.products import Header, Offers, Product, flag
from geolookup_builder.sources.reading.reader import Batch, SourceFormat, SourceTable
from geolookup_builder.sources.reading.sniffing import Detection, Opening

#: The columns of a range, the usual one first; the others are written by geoip2-csv-converter.
_RANGES = (
    ("network",),
    *((f"network_start_{kind}", f"network_last_{kind}") for kind in ("ip", "integer", "hex")),
)
#: A blank ``is_anycast`` is unknown: GeoLite2 has only blanks.
_LOCATION = """
    continent_code country_code=country_iso_code region_code=subdivision_1_iso_code
    region_name=subdivision_1_name city_name time_zone metro_code
    subdivision_2_code=subdivision_2_iso_code subdivision_2_name city_name_LANG=city_name:LANG
    region_name_LANG=subdivision_1_name:LANG country_name_LANG=country_name:LANG
    registered_country_code=country_iso_code:registered
    represented_country_code=country_iso_code:represented postal_code latitude longitude
    accuracy_radius geoname_id is_anycast
"""
#: Of Blocks; ``is_satellite_provider`` and ``is_anonymous_proxy`` are no longer maintained.
_UNREAD = (
    "registered_country_geoname_id represented_country_geoname_id is_anonymous_proxy "
    "is_satellite_provider locale_code continent_name country_name is_in_european_union"
)
_MOBILE = "mcc=mobile_country_code mnc=mobile_network_code"
_PROVIDED = f"""
    isp organization asn=autonomous_system_number connection_type user_type {_MOBILE}
    asn_organization=autonomous_system_organization
"""
_FLAGS = (
    "is_anonymous is_vpn=is_anonymous_vpn is_hosting=is_hosting_provider is_proxy=is_public_proxy "
    "is_tor=is_tor_exit_node is_residential_proxy"
)
#: A flag about anonymity that is blank is false.
_ANONYMIZERS: Mapping[str, Offers] = {
    **offers(_FLAGS, flag),
    **offers("proxy_provider=provider_name anonymizer_confidence last_seen_date=network_last_seen"),
}
#: The columns that records of MMDB files have below ``traits``, besides the provider.
TRAITS = f"domain usage_type=user_type {_MOBILE} is_anycast is_legitimate_proxy {_FLAGS}"

_product = partial(product, ranges=_RANGES)
_own = partial(product, ranges=_RANGES, refusal=NO_FIELD)
#: Those with own columns only.
OWN_PRODUCTS = (
    _own("Domain", "domain", "domain"),
    _own("IP-Risk", "ip_risk", _ANONYMIZERS, "ip_risk"),
    _own("Anonymous-IP", "is_anonymous", _ANONYMIZERS),
    _own("Static-IP-Score", "score", "static_ip_score=score"),
    _own("Static-IP-Score", "static_ip_score", "static_ip_score"),
    _own("User-Count", "ipv4_24", unread="ipv4_24 ipv4_32 ipv6_32 ipv6_48 ipv6_64"),
    _own("Residential-Proxy", "anonymizer_confidence", _ANONYMIZERS, "is_residential_proxy='true'"),
    _own("DensityIncome", "population_density", "average_income population_density"),
)
#: In the order of their tables; a file with the columns of several is of the first one.
_PRODUCTS = (
    _product(
        "Enterprise",
        "geoname_id isp_id",
        f"{_LOCATION} {_PROVIDED} usage_type=user_type is_legitimate_proxy domain "
        "country_confidence subdivision_confidence city_confidence postal_confidence",
        unread=f"isp_id {_UNREAD}",
    ),
    _product("City", "geoname_id latitude", _LOCATION, unread=_UNREAD),
    _product("Country", "geoname_id", _LOCATION, unread=_UNREAD),
    _product("ISP", "isp", _PROVIDED),
    _product("ASN", "autonomous_system_number", _PROVIDED),
    _product("Connection-Type", "connection_type", _PROVIDED),
    *OWN_PRODUCTS,
)
#: Columns of Blocks that no other format has.
_OWN = {
    *("registered_country_geoname_id", "autonomous_system_number", "is_anonymous_vpn", "ip_risk"),
    *("static_ip_score", "ipv4_24", "anonymizer_confidence"),
}
_NAMED = re.compile("geoip2|geoip-|geolite2", re.IGNORECASE)
_FAMILY = re.compile(r"ipv([46])", re.IGNORECASE)
_ID, _PROVIDER, _LOCALE = "geoname_id", "isp_id", "locale_code"
_COUNTRY, _AS = "country_iso_code", "autonomous_system_number"
#: The ids of countries: "country_iso_code:registered" is the country of the first.
_COUNTRY_IDS = {kind: f"{kind}_country_geoname_id" for kind in ("registered", "represented")}
_IDS = {_ID, _PROVIDER, *_COUNTRY_IDS.values()}
_TRANSLATED = {"subdivision_1_name", "subdivision_2_name", "city_name"}


def _read(spec: SourceSpec) -> Iterator[SourceTable]:
    locale = spec.options.get("locale", "")
    if not isinstance(locale, str):
        remedy = 'write a language code, such as locale = "en"'
        raise BuildError(spec.recipe, f"source.locale is {locale!r}", remedy=remedy)
    planner, joins, blocks = Planner(spec), _Joins(locale), list[tuple[Member, Header]]()
    for member in members(spec.path, spec.base, (".csv",)):
        header = product_files.csv_header(member)
        if _PRODUCTS[0].range_in(header):
            blocks.append((member, header))
        else:
            joins.add(member, header)
    files = list[tuple[str, Iterator[Batch]]]()
    notes, offered = dict[str, None](), list[str]()
    for member, header in blocks:
        reading = _plan(planner, member, header, joins)
        if reading.values:
            files.append((reading.product.name, delimited.batches(member, reading)))
        else:
            notes[f"{reading.product.name} ignored: no field holds it"] = None
            offered += reading.layout.offered
        if _PROVIDER in header and not joins.of(member, header, _PROVIDER):
            notes["Enterprise without its ISP file: providers are unknown"] = None
    if not files:
        problem = "; ".join(["no Blocks file that can be used", *notes])
        remedy = f"name other files{product_files.declaration_hint(offered)}"
        raise BuildError(spec.base / spec.path, problem, remedy=remedy)
    planner.check()
    yield from planner.tables(files, [product.name for product in _PRODUCTS], notes)


def _product_of(header: Header) -> Product:
    """Return the first product that a file with a range is of."""
    product = next((product for product in _PRODUCTS if product.fits(header)), None)
    if product is None:
        problem = f"no MaxMind product has the columns {header.text}"
        raise BuildError(header.label, problem, line=1, remedy="name other files")
    return product


@dataclass(frozen=True, slots=True)
class _File:
    """A table that Blocks refer to by ``key``: locations in a language, or providers."""

    member: Member
    names: tuple[str, ...]
    key: str
    locale: str = ""


class _Joins:
    """The files that Blocks refer to, each read when first needed.

    ``locale`` is the language of names that the recipe demands; empty if it demands none.
    """

    def __init__(self, locale: str) -> None:
        self._locale, self._files, self._load = locale, list[_File](), cache(load_keyed)

    def add(self, member: Member, header: Header) -> None:
        """Add a file without ranges; BuildError if it is neither Locations nor providers."""
        if _ID in header and _LOCALE in header:
            # The language of the first row.
            start = sniffing.sample(member).records[:2]
            first = dict(zip(header.names, start[-1][1], strict=False)) if len(start) > 1 else {}
            self._files.append(_File(member, header.names, _ID, first.get(_LOCALE, "")))
        elif _PROVIDER in header:
            self._files.append(_File(member, header.names, _PROVIDER))
        else:
            problem = f"neither Blocks nor Locations: {header.text}"
            raise BuildError(member.label, problem, line=1, remedy="name other files")

    def of(self, blocks: Member, header: Header, key: str, locale: str = "") -> list[_File]:
        """Return the files of a kind in one language, by default English if there is such a file.

        Those of the folder and the product of the Blocks file come first, then the later ones.
        """
        files = [file for file in self._files[::-1] if file.key == key and key in header]
        files.sort(
            key=lambda file: (
                file.locale != (locale or "en"),
                _folder(file.member) != _folder(blocks),
                ("city_name" in file.names) != ("latitude" in header),
            )
        )
        return [file for file in files if file.locale == files[0].locale]

    def columns(self, header: Header) -> tuple[str, ...]:
        """Return the columns that the rows of a Blocks file get."""
        columns = [
            name
            for file in self._files
            if file.key in header
            for name in (*file.names, *(f"{name}:{file.locale}" for name in file.names))
        ]
        columns += [f"{_COUNTRY}:{kind}" for kind, key in _COUNTRY_IDS.items() if key in header]
        return tuple(name for name in dict.fromkeys(columns) if name not in header)

    def table(self, files: Iterable[_File], wanted: Collection[str]) -> KeyedTable:
        """Return the rows of files with the ``wanted`` columns; of equal keys the first is used."""
        files = [*dict.fromkeys(files)]
        columns = tuple(sorted({name for file in files for name in file.names} & {*wanted}))
        tables = [self._load(file.member, file.names, file.key, columns) for file in files]
        return KeyedTable(
            pa.concat_arrays([table.keys for table in tables]),
            {name: pa.concat_arrays([table.columns[name] for table in tables]) for name in columns},
        )

    def locations(self, blocks: Member, header: Header, wanted: Collection[str]) -> KeyedTable:
        """Return the locations that a Blocks file refers to, with the ``wanted`` columns."""
        files, english = (self.of(blocks, header, _ID, one) for one in (self._locale, ""))
        if not files or files[0].locale != (self._locale or files[0].locale):
            found = ", ".join(sorted({file.locale for file in self._files if file.key == _ID}))
            language = f" in locale {self._locale!r} (found: {found})" if files else ""
            problem = f"its Locations{language} are missing"
            raise BuildError(blocks.label, problem, remedy="add them to the source, or set locale")
        stems = {_COUNTRY, *(name.partition(":")[0] for name in wanted)}
        locations = self.table([*files, *english], stems)
        columns = dict(locations.columns)

        def translated(name: str, files: Iterable[_File]) -> pa.Array:
            table = self.table(files, stems)
            return table.columns[name].take(pc.index_in(locations.keys, table.keys))

        for name in columns.keys() & _TRANSLATED:  # the names that the language lacks
            columns[name] = pc.coalesce(columns[name], translated(name, english))
        for name in wanted:
            stem, _, kind = name.partition(":")
            if kind in _COUNTRY_IDS:
                columns[name] = columns[stem]
            elif kind:
                columns[name] = translated(stem, self.of(blocks, header, _ID, kind))
        names = columns.keys() & {_COUNTRY, *wanted}
        return KeyedTable(locations.keys, {name: columns[name] for name in names})


def _folder(member: Member) -> str:
    """Return "a.zip!x/" for "a.zip!x/y.csv"."""
    return member.label.removesuffix(member.file_names[0])


def _plan(planner: Planner, member: Member, header: Header, joins: _Joins) -> Reading:
    """Return how Blocks are read: with the columns of the rows that their ids refer to."""
    product = _product_of(header)
    # Ranges in integers do not show their family, the file's name does.
    stated = _FAMILY.search(member.file_names[0])
    is_hexadecimal = product.range_in(header) == _RANGES[-1]
    parse = from_hexadecimal_pairs if is_hexadecimal else parse_range
    parse = partial(parse, family=int(stated[1]) if stated else None)
    product = replace(product, parse=parse)
    names = (*header.names, *joins.columns(header))
    reading = planner.plan(replace(header, names=names), product)
    fields = reading.layout.fields
    wanted = fields.difference(header.names)
    joined = dict[str, KeyedTable]()
    if _ID in header:
        joined[_ID] = joins.locations(member, header, wanted)
    if files := joins.of(member, header, _PROVIDER):
        joined[_PROVIDER] = joins.table(files, {_AS, *wanted})

    def extend(rows: pa.RecordBatch) -> pa.RecordBatch:
        columns = {name: rows.column(name) for name in rows.schema.names}
        for key, table in joined.items():
            columns |= _joined(rows, key, table)
        return pa.RecordBatch.from_pydict(columns)

    own = fields.union(_IDS).intersection(header.names)
    return replace(
        reading, layout=replace(reading.layout, names=header.names, fields=own), prepare=extend
    )


def _joined(rows: pa.RecordBatch, key: str, table: KeyedTable) -> dict[str, pa.DictionaryArray]:
    """Return the location or provider of each row; without one, the country of registration.

    An id that is in no file becomes an invalid country or AS number: it is nulled and counted.
    """
    ids = rows.column(key)
    # An id of 0 is "no provider".
    has_id, at = pc.not_equal(ids.cast(pa.string()), "0").fill_null(False), table.rows(ids)
    if key == _ID and _COUNTRY_IDS["registered"] in rows.schema.names:
        country_ids = rows.column(_COUNTRY_IDS["registered"])
        # Row by row: geoname_id if present, else the id of the registered country.
        at = pc.if_else(has_id, at, table.rows(country_ids))
        has_id = pc.or_(has_id, pc.is_valid(country_ids))
    encoded = at.dictionary_encode()  # once for all columns
    columns = {}
    for name, values in table.columns.items():
        other = _COUNTRY_IDS.get(name.partition(":")[2])
        columns[name] = take(values, table.rows(rows.column(other)) if other else encoded)
    marked = _COUNTRY if key == _ID else _AS
    if marked in columns:
        orphans = pc.and_(has_id, pc.is_null(at))
        columns[marked] = mark(columns[marked], orphans, f"unknown {key}")
    return columns


def _detect(opening: Opening) -> Detection | None:
    """Return a detection for columns that no other vendor has, or for this vendor's file names."""
    header = product_files.csv_header(opening.start)
    has_name = any(map(_NAMED.search, opening.member.file_names))
    ends = _PRODUCTS[0].range_in(header)
    if not ends:
        is_joined = _PROVIDER in header.names[:1] or {_ID, _LOCALE} <= {*header.names}
        return Detection("tables of Blocks", has_name) if is_joined else None
    if not (has_name or ends != _RANGES[0] or _OWN.intersection(header.names)):
        return None
    planner, product = Planner(opening.spec), _product_of(header)
    detection = planner.detection(header, product, "maxmind")
    return replace(detection, reason=f"{detection.reason} blocks", has_own_name=has_name)


FORMAT = SourceFormat(
    "maxmind", frozenset({"columns", "locale"}), _read, _detect, products=_PRODUCTS
)
