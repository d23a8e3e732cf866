"""Own columns of MaxMind's test files, against the records in JSON that these were made of.

Strategy: each row of the reader has the values that a plain function finds in the record of the
most specific network around its first address; the same records as CSV give the same rows.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Any

import pytest

from tests.builder.sources.formats.test_mmdb import folded, lookup
from tests.builder.sources.own.deliveries import ALL, delivered
from tests.skips import needs

pytestmark = needs("maxminddb")

Record = Mapping[str, Any]
Network = IPv4Network | IPv6Network
_ANONYMIZERS = {
    "is_anonymous": "is_anonymous",
    "is_vpn": "is_anonymous_vpn",
    "is_hosting": "is_hosting_provider",
    "is_proxy": "is_public_proxy",
    "is_tor": "is_tor_exit_node",
    "is_residential_proxy": "is_residential_proxy",
}
_SEEN = {
    "proxy_provider": "provider_name",
    "anonymizer_confidence": "anonymizer_confidence",
    "last_seen_date": "network_last_seen",
}
#: The path of each column in a record of City, Country and Enterprise.
_NESTED: dict[str, tuple[str | int, ...]] = {
    "accuracy_radius": ("location", "accuracy_radius"),
    "metro_code": ("location", "metro_code"),
    "city_geoname_id": ("city", "geoname_id"),
    "region_geoname_id": ("subdivisions", 0, "geoname_id"),
    "country_geoname_id": ("country", "geoname_id"),
    "country_confidence": ("country", "confidence"),
    "subdivision_confidence": ("subdivisions", 0, "confidence"),
    "city_confidence": ("city", "confidence"),
    "postal_confidence": ("postal", "confidence"),
    "subdivision_2_code": ("subdivisions", 1, "iso_code"),
    "subdivision_2_name": ("subdivisions", 1, "names", "en"),
    "registered_country_code": ("registered_country", "iso_code"),
    "represented_country_code": ("represented_country", "iso_code"),
    "represented_country_type": ("represented_country", "type"),
    "city_name_pt_br": ("city", "names", "pt-BR"),
    "region_name_pt_br": ("subdivisions", 0, "names", "pt-BR"),
    "country_name_pt_br": ("country", "names", "pt-BR"),
    "domain": ("traits", "domain"),
    "usage_type": ("traits", "user_type"),
    "mcc": ("traits", "mobile_country_code"),
    "mnc": ("traits", "mobile_network_code"),
    "static_ip_score": ("traits", "static_ip_score"),
    "is_anycast": ("traits", "is_anycast"),
    "is_legitimate_proxy": ("traits", "is_legitimate_proxy"),
    **{name: ("traits", key) for name, key in _ANONYMIZERS.items()},
}


def _known(items: Mapping[str, Any]) -> dict[str, Any]:
    return {name: item for name, item in items.items() if item is not None}


def nested(record: Record) -> dict[str, Any]:
    paths = (
        *(("city",), ("subdivisions", 1), ("subdivisions", 0)),
        *(("country",), ("continent",)),
    )
    ids = [lookup(record, (*steps, "geoname_id")) for steps in paths]
    items = {name: lookup(record, path) for name, path in _NESTED.items()}
    return _known({**items, "geoname_id": next(filter(None, ids), None)})


def anonymizer(record: Record) -> dict[str, Any]:
    """An absent flag is false; but a record without any key states nothing."""
    if not record:
        return {}
    flags = {name: record.get(key, False) for name, key in _ANONYMIZERS.items()}
    return flags | _known({name: record.get(key) for name, key in _SEEN.items()})


def risk(record: Record) -> dict[str, Any]:
    return anonymizer(record) | _known({"ip_risk": record.get("ip_risk")})


def residential(record: Record) -> dict[str, Any]:
    return {**anonymizer(record), "is_residential_proxy": True} if record else {}


def flat(**keys: str) -> Callable[[Record], dict[str, Any]]:
    return lambda record: _known({name: record.get(key) for name, key in keys.items()})


#: Product: the own columns of a record.
PRODUCTS: dict[str, Callable[[Record], dict[str, Any]]] = {
    **dict.fromkeys(("GeoIP2-City", "GeoIP2-Country", "GeoIP2-Enterprise"), nested),
    **dict.fromkeys(("GeoIP2-Precision-Enterprise", "GeoLite2-City", "GeoLite2-Country"), nested),
    **dict.fromkeys(("GeoIP2-Anonymous-IP", "GeoIP-Anonymous-Plus"), anonymizer),
    "GeoIP2-IP-Risk": risk,
    "GeoIP-Residential-Proxy": residential,
    "GeoIP2-Domain": flat(domain="domain"),
    "GeoIP2-ISP": flat(mcc="mobile_country_code", mnc="mobile_network_code"),
    "GeoIP2-Static-IP-Score": flat(static_ip_score="score"),
    "GeoIP2-DensityIncome": flat(
        average_income="average_income", population_density="population_density"
    ),
}
_TYPES = {bool: "boolean", int: "integer", float: "real", str: "text"}


def _records(shared_data: Path, product: str) -> list[tuple[Network, Record]]:
    path = shared_data / "maxmind-db" / "source-data" / f"{product}-Test.json"
    listed = json.loads(path.read_text("utf-8"))
    return [(ip_network(folded(net)), record) for entry in listed for net, record in entry.items()]


@pytest.mark.parametrize("product", PRODUCTS)
def test_the_values_of_the_records(tmp_path: Path, shared_data: Path, product: str) -> None:
    records, values = _records(shared_data, product), PRODUCTS[product]
    columns: dict[str, str] = {}
    for _, record in records:
        columns |= {name: _TYPES[type(item)] for name, item in values(record).items()}
    columns = {
        **columns,
        **{name: "real" for name in ("ip_risk", "static_ip_score") if name in columns},
    }
    path = shared_data / "maxmind-db" / "test-data" / f"{product}-Test.mmdb"
    rows = delivered(tmp_path, {}, "mmdb", str(path), columns=columns)
    assert len(rows) > 1
    assert columns
    for network, known in rows.items():
        row = ip_network(network)
        around = {
            item.prefixlen: record
            for item, record in records
            if item.version == row.version and row.network_address in item
        }
        # The tree of some files has empty records for all other networks.
        assert known == values(around[max(around)] if around else {}), network


#: By column of Locations, its path in a record; the names are of a language.
_CODES = {
    "country_iso_code": ("country", "iso_code"),
    "subdivision_1_iso_code": ("subdivisions", 0, "iso_code"),
    "subdivision_2_iso_code": ("subdivisions", 1, "iso_code"),
    "metro_code": ("location", "metro_code"),
}
_NAMES = {
    "country_name": ("country", "names"),
    "subdivision_1_name": ("subdivisions", 0, "names"),
    "subdivision_2_name": ("subdivisions", 1, "names"),
    "city_name": ("city", "names"),
}
#: By column of Blocks, its own column.
_BLOCK = {
    "accuracy_radius": "accuracy_radius",
    "is_anycast": "is_anycast",
    "is_legitimate_proxy": "is_legitimate_proxy",
    "domain": "domain",
    **{name: name for name in _NESTED if name.endswith("_confidence")},
}
_JOINED = (
    *("metro_code", "subdivision_2_code", "subdivision_2_name"),
    *("registered_country_code", "represented_country_code"),
    *("city_name_pt_br", "region_name_pt_br", "country_name_pt_br"),
)


def _table(rows: list[dict[str, Any]]) -> str:
    stream = io.StringIO(newline="")
    table = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    return stream.getvalue()


def _csv(records: list[tuple[Network, Record]]) -> dict[str, str | bytes]:
    """The records as Blocks, and as Locations in two languages; a number per distinct place."""
    ids: dict[str, int] = {}
    rows: dict[str, list[dict[str, Any]]] = {"en": [], "pt-BR": []}

    def geoname_id(record: Record) -> int | str:
        codes = {name: lookup(record, path) for name, path in _CODES.items()}
        names = {name: lookup(record, path) or {} for name, path in _NAMES.items()}
        if not any([*codes.values(), *names.values()]):
            return ""
        key = json.dumps([codes, names], sort_keys=True)
        if key not in ids:
            ids[key] = len(ids) + 1
            for locale, listed in rows.items():
                in_language = {name: texts.get(locale) for name, texts in names.items()}
                head = {"geoname_id": ids[key], "locale_code": locale}
                listed.append({**head, **codes, **in_language})
        return ids[key]

    blocks = [
        {
            "network": network,
            "geoname_id": geoname_id(record),
            **{
                f"{kind}_geoname_id": geoname_id({"country": record.get(kind, {})})
                for kind in ("registered_country", "represented_country")
            },
            "latitude": "",
            "isp_id": 0,
            **{key: _cell(nested(record).get(name)) for key, name in _BLOCK.items()},
        }
        for network, record in records
    ]
    return {
        "Blocks.csv": _table(blocks),
        **{f"{locale}.csv": _table(listed) for locale, listed in rows.items()},
    }


def _cell(item: Any) -> Any:
    return int(item) if isinstance(item, bool) else item


@pytest.mark.parametrize("product", ["GeoIP2-City", "GeoIP2-Enterprise"])
def test_the_same_records_as_csv(tmp_path: Path, shared_data: Path, product: str) -> None:
    records = list(dict(_records(shared_data, product)).items())  # one is there twice
    names = (*_BLOCK.values(), *_JOINED)
    columns = {name: ALL[name.replace("_pt_br", "_de")] for name in names}
    rows = delivered(tmp_path, _csv(records), "maxmind", "*.csv", columns=columns)
    assert len(rows) == len(records)
    for network, record in records:
        known = {name: item for name, item in nested(record).items() if name in names}
        if not lookup(record, ("country", "iso_code")) and "city" not in record:
            registered = lookup(record, ("registered_country", "names", "pt-BR"))
            known |= _known({"country_name_pt_br": registered})
        assert rows[str(network)] == known, network
