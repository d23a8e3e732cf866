"""MaxMind's test files state what the records in JSON have that these were made of.

Strategy: the records are written as generic CSV by a plain function; the MMDB file and this CSV
must give the same intervals, with own columns.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Mapping
from ipaddress import IPv4Address, ip_network
from pathlib import Path
from typing import Any

import pytest

from tests.builder.sources.readings import OWN, Read, one
from tests.skips import needs
from tests.tiers import one_of_each

pytestmark = needs("maxminddb")

Record = Mapping[str, Any]
Steps = tuple[str | int, ...]
_PROVIDER = {
    "isp": "isp",
    "organization": "organization",
    "asn": "autonomous_system_number",
    "asn_organization": "autonomous_system_organization",
    "connection_type": "connection_type",
    "user_type": "user_type",
}
_MOBILE = {"mcc": "mobile_country_code", "mnc": "mobile_network_code"}
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
_NAMED: dict[str, Steps] = {
    "city_name": ("city", "names"),
    "region_name": ("subdivisions", 0, "names"),
    "country_name": ("country", "names"),
}
_FLAGS = {name: name for name in ("is_anycast", "is_legitimate_proxy", "static_ip_score", "domain")}
_IN_TRAITS = _PROVIDER | _MOBILE | _ANONYMIZERS | _FLAGS | {"usage_type": "user_type"}
#: Field or own column: where a record of City, Country or Enterprise has it, the first decides.
NESTED: dict[str, tuple[Steps, ...]] = {
    "continent_code": (("continent", "code"),),
    "country_code": (("country", "iso_code"), ("registered_country", "iso_code")),
    "region_code": (("subdivisions", 0, "iso_code"),),
    "postal_code": (("postal", "code"),),
    **{name: (("location", name),) for name in ("latitude", "longitude", "time_zone")},
    **{
        name: (("location", name),)
        for name in ("accuracy_radius", "metro_code", "average_income", "population_density")
    },
    "geoname_id": (
        ("city", "geoname_id"),
        ("subdivisions", 1, "geoname_id"),
        ("subdivisions", 0, "geoname_id"),
        ("country", "geoname_id"),
        ("continent", "geoname_id"),
    ),
    "city_geoname_id": (("city", "geoname_id"),),
    "region_geoname_id": (("subdivisions", 0, "geoname_id"),),
    "country_geoname_id": (("country", "geoname_id"),),
    "country_confidence": (("country", "confidence"),),
    "subdivision_confidence": (("subdivisions", 0, "confidence"),),
    "city_confidence": (("city", "confidence"),),
    "postal_confidence": (("postal", "confidence"),),
    "subdivision_2_code": (("subdivisions", 1, "iso_code"),),
    "subdivision_2_name": (("subdivisions", 1, "names", "en"),),
    "registered_country_code": (("registered_country", "iso_code"),),
    "represented_country_code": (("represented_country", "iso_code"),),
    "represented_country_type": (("represented_country", "type"),),
    "city_name": (("city", "names", "en"),),
    "region_name": (("subdivisions", 0, "names", "en"),),
    **{f"{name}_de": ((*steps, "de"),) for name, steps in _NAMED.items()},
    **{f"{name}_pt_br": ((*steps, "pt-BR"),) for name, steps in _NAMED.items()},
    **{name: (("traits", key),) for name, key in _IN_TRAITS.items()},
}


def lookup(record: Any, *paths: Steps) -> Any:
    """The first value that a record has at one of the paths."""
    for steps in paths:
        value = record
        for step in steps:
            try:
                value = value[step]
            except (KeyError, IndexError):
                break
        else:
            return value
    return None


def nested(record: Record) -> dict[str, Any]:
    return {name: lookup(record, *paths) for name, paths in NESTED.items()}


def flat(**keys: str) -> Callable[[Record], dict[str, Any]]:
    return lambda record: {name: record.get(key) for name, key in keys.items()}


def anonymizer(record: Record) -> dict[str, Any]:
    """An absent flag is false; but a record without any key states nothing."""
    if not record:
        return {}
    flags = {name: record.get(key, False) for name, key in _ANONYMIZERS.items()}
    return flags | flat(**_SEEN, ip_risk="ip_risk")(record)


def residential(record: Record) -> dict[str, Any]:
    return {**anonymizer(record), "is_residential_proxy": True} if record else {}


_CITIES = ("City", "Country", "Enterprise", "Precision-Enterprise")
#: Product: what is known of a record.
PRODUCTS: dict[str, Callable[[Record], dict[str, Any]]] = {
    **dict.fromkeys((f"GeoIP2-{name}" for name in _CITIES), nested),
    **dict.fromkeys(("GeoLite2-City", "GeoLite2-Country"), nested),
    **dict.fromkeys(("GeoIP2-Anonymous-IP", "GeoIP-Anonymous-Plus", "GeoIP2-IP-Risk"), anonymizer),
    "GeoIP-Residential-Proxy": residential,
    "GeoIP2-Domain": flat(domain="domain"),
    "GeoIP2-ISP": flat(**_PROVIDER, **_MOBILE),
    "GeoIP2-Connection-Type": flat(connection_type="connection_type"),
    "GeoLite2-ASN": flat(**_PROVIDER),
    "GeoIP2-Static-IP-Score": flat(static_ip_score="score"),
    "GeoIP2-DensityIncome": flat(
        average_income="average_income", population_density="population_density"
    ),
}


def records_of(shared_data: Path, product: str) -> list[tuple[str, Record]]:
    """Networks and records; a record that a later one covers is not in the file."""
    path = shared_data / "maxmind-db" / "source-data" / f"{product}-Test.json"
    listed = json.loads(path.read_text("utf-8"))
    pairs = [(folded(network), record) for item in listed for network, record in item.items()]
    kept, later = list[tuple[str, Record]](), set[tuple[int, int]]()
    for network, record in reversed(pairs):
        parsed = ip_network(network)
        leading = int(parsed.network_address) >> parsed.max_prefixlen - parsed.prefixlen
        # The leading bits with a 1 before them, so that 0/1 and 0/2 differ.
        number = 1 << parsed.prefixlen | leading
        around = {(parsed.version, number >> bits) for bits in range(parsed.prefixlen + 1)}
        if not around & later:
            kept.append((network, record))
        later.add((parsed.version, number))
    return kept[::-1]


def folded(network: str) -> str:
    """An IPv6 network below ::/96 as the IPv4 one that it is in a tree."""
    parsed = ip_network(network, strict=False)
    first = int(parsed.network_address)
    if parsed.version == 6 and first >> 32 == 0 and parsed.prefixlen >= 96:
        return f"{IPv4Address(first)}/{parsed.prefixlen - 96}"
    return str(parsed)


def written(names: Iterable[str], rows: Iterable[Record]) -> str:
    stream = io.StringIO(newline="")
    table = csv.DictWriter(stream, [*names], extrasaction="ignore", lineterminator="\n")
    table.writeheader()
    for row in rows:  # booleans as 1 and 0
        table.writerow({key: int(v) if isinstance(v, bool) else v for key, v in row.items()})
    return stream.getvalue()


#: Other products of the same structure, as GeoIP2-City, run with ``--all``.
_QUICK = [name for name in PRODUCTS if not name.startswith(("GeoLite2-C", "GeoIP2-Precision"))]


@pytest.mark.parametrize("product", one_of_each(PRODUCTS, lambda name: name in _QUICK and name))
def test_mmdb(read: Read, shared_data: Path, product: str) -> None:
    known = [
        {"network": network, **PRODUCTS[product](record)}
        for network, record in records_of(shared_data, product)
    ]
    names = dict.fromkeys(name for row in known for name in row)
    path = shared_data / "maxmind-db" / "test-data" / f"{product}-Test.mmdb"
    reading = read({}, OWN + one("mmdb", str(path)))
    assert reading.source.nulled == {}
    expected = read({"rows.csv": written(names, known)}, OWN + one("csv", "rows.csv"))
    assert reading.intervals() == expected.intervals()
    assert len(reading.ranges()) > 1
