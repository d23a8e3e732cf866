"""The columns that readers of vendors offer beside the fields of the contract.

A recipe declares one in ``[columns]`` by its name here, or maps it in a source:
``columns = { my_flag = "is_vpn" }``. Without that no reader reads it. Each format has a table from
these names to its own columns; ``sources.reading.plans`` reads them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class VendorColumn:
    """An offered column: its name, its type in recipes, and its meaning."""

    name: str
    type: str  # one of ``contract.schema.TYPES``
    meaning: str


def _columns(type_: str, *columns: tuple[str, str]) -> tuple[VendorColumn, ...]:
    return tuple(VendorColumn(name, type_, meaning) for name, meaning in columns)


#: In the order of ``docs/data/sources/columns.md``. LANG stands for a language: city_name_pt_br.
COLUMNS = (
    *_columns(
        "boolean",
        ("is_anonymous", "VPN, proxy, Tor or other anonymizer"),
        ("is_proxy", "proxy; MaxMind, IPinfo: public proxy"),
        ("is_vpn", "exit of a VPN service"),
        ("is_tor", "exit of Tor"),
        ("is_relay", "exit of iCloud Private Relay or similar"),
        ("is_residential_proxy", "proxy at a subscriber"),
        ("is_legitimate_proxy", "proxy of a company or ISP"),
        ("is_hosting", "of a hosting provider or cloud"),
        ("is_anycast", "announced from several places"),
        ("is_mobile", "of a mobile network"),
        ("is_satellite", "of a satellite network"),
    ),
    *_columns(
        "text",
        ("proxy_type", "IP2Proxy's type: VPN, TOR, DCH, PUB, …"),
        ("proxy_provider", "VPN or proxy service"),
        ("threat", "IP2Proxy's threats: SPAM, SCANNER, BOTNET, …"),
        ("last_seen_date", "last day of activity as a proxy"),
    ),
    *_columns(
        "integer",
        ("last_seen_days", "days since last activity as a proxy"),
        ("fraud_score", "IP2Proxy's score, 0 to 99"),
        ("anonymizer_confidence", "confidence in percent"),
    ),
    *_columns(
        "real",
        ("ip_risk", "MaxMind's risk, 0.01 to 99"),
        ("static_ip_score", "MaxMind's score, 0 to 99.99"),
    ),
    *_columns(
        "integer",
        ("accuracy_radius", "kilometres around the coordinates"),
        ("metro_code", "US metro code (DMA)"),
        ("geoname_id", "GeoNames id, most specific place"),
        ("city_geoname_id", "GeoNames id"),
        ("region_geoname_id", "GeoNames id"),
        ("country_geoname_id", "GeoNames id"),
        ("elevation", "metres"),
        ("average_income", "US dollars"),
        ("population_density", "people per km²"),
        ("country_confidence", "percent"),
        ("subdivision_confidence", "percent"),
        ("city_confidence", "percent"),
        ("postal_confidence", "percent"),
    ),
    *_columns(
        "text",
        ("subdivision_2_code", "second subdivision, without the country"),
        ("subdivision_2_name", "second subdivision"),
        ("district", "district or county"),
        ("registered_country_code", "where the network is registered"),
        ("represented_country_code", "country that its users represent"),
        ("represented_country_type", "such as military"),
        ("city_name_LANG", "city in a language"),
        ("region_name_LANG", "region in a language"),
        ("country_name_LANG", "country in a language"),
        ("area_code", "telephone area code"),
        ("weather_station_name", "weather station"),
        ("domain", "domain of the user of the network"),
        ("usage_type", "kind of user, in the vendor's words"),
        ("address_type", "A, U, M, B: anycast, unicast, multicast, broadcast"),
        ("category", "IAB category, such as IAB19-11"),
        ("mcc", "mobile country code"),
        ("mnc", "mobile network code"),
        ("mobile_brand", "brand of the mobile network"),
        ("asn_kind", "isp, hosting, business, education, …"),
        ("asn_domain", "domain of the AS holder"),
        ("asn_country_code", "where the AS is registered"),
        ("cloud_provider", "provider"),
        ("cloud_region", "the cloud's name"),
        ("cloud_service", "the cloud's name or tags"),
        ("rir", "registry that delegated the range"),
        ("rir_status", "allocated or assigned"),
        ("rir_date", "day of the delegation"),
    ),
)
_BY_NAME = {column.name: column for column in COLUMNS}
#: Stands for a language in names of columns, and of columns of files.
LANGUAGE = "LANG"
#: "city_name_pt_br": the name with ``LANG``, language, and region or script.
_TRANSLATED = re.compile(r"((?:city|region|country)_name_)([a-z]{2})(?:_([a-z]{2}|[a-z]{4}))?")


def offered_column(name: str) -> VendorColumn | None:
    """Return the column that a name means: ``city_name_de`` is ``city_name_LANG``."""
    return _BY_NAME.get(with_language(name)[0])


def with_language(name: str) -> tuple[str, str]:
    """Return a name with ``LANG`` for its language, and the language: "" if it has none.

    ``city_name_pt_br`` is ``city_name_LANG`` in ``pt-BR`` (RFC 5646).
    """
    match = _TRANSLATED.fullmatch(name)
    if match is None:
        return name, ""
    before, language, part = match.groups()
    parts = [language, *([part.upper() if len(part) == 2 else part.title()] if part else [])]
    return before + LANGUAGE, "-".join(parts)
