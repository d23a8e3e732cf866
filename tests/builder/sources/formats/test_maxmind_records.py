"""MaxMind's test files state what the records in JSON have that these were made of.

Strategy: plain paths read the JSON. A record that later ones cover is not in the file: the library
knows which are.
"""

from __future__ import annotations

import json
from ipaddress import IPv4Address, ip_network
from pathlib import Path
from typing import Any

import pytest

from tests.builder.sources.readings import OFFERED, OWN, Read, one
from tests.internals.contract import special
from tests.skips import needs, optional

maxminddb = optional("maxminddb")
pytestmark = needs("maxminddb")

#: Field or own column: its paths in a record of each product, the first with a value decides.
PATHS = {
    "continent_code": "continent.code",
    "country_code": "country.iso_code registered_country.iso_code",
    "region_code": "subdivisions.0.iso_code",
    "region_name": "subdivisions.0.names.en",
    "subdivision_2_code": "subdivisions.1.iso_code",
    "city_name": "city.names.en",
    "city_name_de": "city.names.de",
    "postal_code": "postal.code",
    **{name: f"location.{name}" for name in ("latitude", "longitude", "time_zone", "metro_code")},
    "geoname_id": "city.geoname_id subdivisions.1.geoname_id subdivisions.0.geoname_id"
    " country.geoname_id continent.geoname_id",
    "registered_country_code": "registered_country.iso_code",
    **{name: f"traits.{name} {name}" for name in ("isp", "connection_type", "domain")},
    "asn": "traits.autonomous_system_number autonomous_system_number",
    "mnc": "traits.mobile_network_code mobile_network_code",
    "is_vpn": "traits.is_anonymous_vpn is_anonymous_vpn",
    "proxy_provider": "provider_name",
    "static_ip_score": "traits.static_ip_score score",
    **{name: name for name in ("average_income", "population_density", "ip_risk")},
}
#: In these products an absent flag is false; a record without any key states nothing.
FLAGS = ("GeoIP-Anonymous-Plus", "GeoIP-Residential-Proxy", "GeoIP2-Anonymous-IP", "GeoIP2-IP-Risk")
PLACES = ("GeoLite2-City", "GeoLite2-Country", *(f"GeoIP2-{n}" for n in ("City", "Enterprise")))
OTHERS = ("Country", "Connection-Type", "DensityIncome", "Domain", "ISP", "Static-IP-Score")
CONNECTIONS = {"Cable/DSL": "Residential", "Cellular": "Mobile"}


def lookup(record: Any, paths: str) -> Any:
    """The first value that a record has at one of the paths."""
    for path in paths.split():
        value = record
        for step in path.split("."):
            try:
                value = value[int(step) if step.isdigit() else step]
            except (KeyError, IndexError):
                break
        else:
            return value
    return None


@pytest.mark.parametrize("product", [*FLAGS, *PLACES, *(f"GeoIP2-{name}" for name in OTHERS)])
def test_records(read: Read, shared_data: Path, product: str) -> None:
    folder, compared = shared_data / "maxmind-db", 0
    path = folder / "test-data" / f"{product}-Test.mmdb"
    text = (folder / "source-data" / f"{product}-Test.json").read_text("utf-8")
    reading = read({}, OWN + one("auto", str(path)))
    with maxminddb.open_database(path) as reader:
        for network, record in (pair for item in json.loads(text) for pair in item.items()):
            address = ip_network(network, strict=False).network_address
            if int(address) < 1 << 32:  # "::1.2.0.0/112" is IPv4
                address = IPv4Address(int(address))
            is_private = special.is_private(address.version, int(address))
            if reader.get(str(address)) == record and not is_private:
                actual = reading.at(str(address))
                for name, paths in PATHS.items():
                    value = lookup(record, paths)
                    if name == "is_vpn" and product in FLAGS and record:
                        value = bool(value)
                    key = f"own.{name}" if name in OFFERED else name
                    assert actual.get(key) == CONNECTIONS.get(value, value), (network, name)
                    compared += value is not None
    assert compared > 1
