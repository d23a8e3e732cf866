"""IP2Proxy's CSV files, PX1 to PX12: addresses of proxies, both families, all editions.

The database comes from the recipe or the file name, else from the number of columns. The type of
a proxy gives the user type if the contract has a word for it; else the usage type does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial

import pyarrow as pa

from geolookup_builder.ranges import ParsedRanges
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.sources.formats.ip2location import (
    MISSING,
    Catalogue,
    Ranges,
    Regions,
)
from geolookup_builder.sources.formats.ip2location_layouts import CONTENT, HOLDS
from geolookup_builder.sources.reading import sniffing
from geolookup_builder.sources.reading.dictionary_columns import first_known, translate
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.own_values import Offers, words
from geolookup_builder.sources.reading.reader import SourceFormat, SourceTable
from geolookup_builder.sources.reading.sniffing import Detection, Opening, sample_without_header
from geolookup_builder.sources.reading.vendor_files import Plan, stated_fields

#: The columns that each database adds at the end of the one before. From PX2 the type of the proxy
#: is the first column. PX10 has more rows than PX9.
_ADDS: tuple[tuple[str, ...], ...] = (
    ("country_code", "country_name"),
    (),
    ("region", "city"),
    ("isp",),
    ("domain",),
    ("usage_type",),
    ("asn", "as"),
    ("last_seen",),
    ("threat",),
    (),
    ("provider",),
    ("fraud_score",),
)


def _columns(number: int) -> tuple[str, ...]:
    # PX4: the columns of PX1 to PX4, after the type of the proxy.
    columns = tuple(name for names in _ADDS[:number] for name in names)
    return ("proxy_type", *columns) if number > 1 else columns


_DATABASES = {f"PX{number}": _columns(number) for number in range(len(_ADDS), 0, -1)}
_CONTENT = {
    **CONTENT,
    "proxy_type": re.compile(r"[A-Z]{3}"),
    "last_seen": re.compile(r"[0-9]{1,5}"),
    "threat": re.compile(r"[A-Z]+(/[A-Z]+)*"),
    "fraud_score": re.compile(r"[0-9]{1,3}"),
}
_HOLDS = {
    **HOLDS,
    "PROXYTYPE": ("proxy_type",),
    "LASTSEEN": ("last_seen",),
    "THREAT": ("threat",),
    "PROVIDER": ("provider",),
    "FRAUDSCORE": ("fraud_score",),
}
_CATALOGUE = Catalogue("PX", "a number from 1 to 12", "IP2PROXY", _HOLDS, _DATABASES, _CONTENT)
#: The field of each column.
FIELDS = {
    "country_code": "country_code",
    "region": "region_name",
    "city": "city_name",
    "isp": "isp",
    "asn": "asn",
    "as": "asn_organization",
    "usage_type": "user_type",
}
#: The user type of each type of proxy; None if the contract has no word, and the usage type
#: decides. A residential proxy is at the address of a subscriber.
USER_TYPES = {
    "VPN": "consumer_privacy_network",
    "TOR": "consumer_privacy_network",
    "CPN": "consumer_privacy_network",
    "DCH": "hosting",
    "SES": "search_engine_spider",
    "EPN": "business",
    "RES": None,
    "PUB": None,
    "WEB": None,
    "AIC": None,
    MISSING: None,
}


def _flags(*true: str) -> dict[str, str | None]:
    """Return the values of a flag by the type of the proxy: true for some types."""
    return {
        name: None if name == MISSING else "true" if name in true else "false"
        for name in USER_TYPES
    }


_NOTHING = {MISSING: None}
#: The vendor states one type per row; a hosting provider or search engine is not a proxy.
OFFERS: Offers = {
    "is_proxy": words("proxy_type", _flags(*USER_TYPES.keys() - {"DCH", "SES", "AIC"})),
    "is_vpn": words("proxy_type", _flags("VPN")),
    "is_tor": words("proxy_type", _flags("TOR")),
    "is_relay": words("proxy_type", _flags("CPN")),
    "is_residential_proxy": words("proxy_type", _flags("RES")),
    "is_hosting": words("proxy_type", {**dict.fromkeys(USER_TYPES), "DCH": "true"}),
    **{
        name: words(name, _NOTHING)
        for name in ("proxy_type", "threat", "fraud_score", "domain", "usage_type")
    },
    "proxy_provider": words("provider", _NOTHING),
    "last_seen_days": words("last_seen", _NOTHING),
}
_KNOWN_TYPES = re.compile("|".join(name for name in USER_TYPES if name != MISSING))
_DETECTED = {**_CONTENT, "proxy_type": _KNOWN_TYPES}


def _read(spec: SourceSpec) -> Iterator[SourceTable]:
    return _CATALOGUE.tables(spec, _plan, OFFERS)


def _plan(member: Member, database: str | None, codes: Regions | None) -> Plan:
    rows = sniffing.sample(member)
    table = database or _CATALOGUE.database_in_names(member.file_names) or _only(rows)
    if table is None:
        raise _CATALOGUE.unnamed_error(rows)
    fields = frozenset({*FIELDS, "proxy_type"})
    layout, ranges = _CATALOGUE.layout(rows, table, fields)
    return Plan(table, layout, partial(_meaning, ranges=ranges, codes=codes))


def _only(rows: sniffing.Sample) -> str | None:
    """Return the database that the first rows show; PX1 has no column of its own."""
    candidates = [name for name in _CATALOGUE.candidates(rows, _DETECTED) if name != "PX1"]
    return candidates[0] if len({_DATABASES[name] for name in candidates}) == 1 else None


def _meaning(
    rows: pa.RecordBatch, ranges: Ranges, codes: Regions | None
) -> tuple[ParsedRanges, Mapping[str, pa.DictionaryArray]]:
    fields = stated_fields(rows, FIELDS, MISSING)
    if "proxy_type" in rows.schema.names:
        types = translate(rows.column("proxy_type"), USER_TYPES)
        usage = [fields["user_type"]] if "user_type" in fields else []
        fields["user_type"] = first_known(types, *usage)
    if codes is not None and "region_name" in fields:
        fields["region_code"] = codes.of(fields)
    return ranges(rows), fields


def _detect(opening: Opening) -> Detection | None:
    rows, names = sample_without_header(opening.start), opening.member.file_names
    candidates = _CATALOGUE.candidates(rows, _DETECTED) if rows else []
    database = _CATALOGUE.database_in_names(names)
    if database in candidates:
        return Detection(database, has_own_name=True)
    table = _only(rows) if rows else None
    return Detection(table) if table else None


FORMAT = SourceFormat(
    "ip2proxy", frozenset({"db", "regions"}), _read, _detect, offers=frozenset(OFFERS)
)
