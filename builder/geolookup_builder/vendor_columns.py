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


#: A line for each: type, name, meaning. LANG stands for a language: city_name_pt_br.
_TABLE = """
boolean  is_anonymous              VPN, proxy, Tor or other anonymizer
boolean  is_proxy                  proxy; MaxMind, IPinfo: public proxy
boolean  is_vpn                    exit of a VPN service
boolean  is_tor                    exit of Tor
boolean  is_relay                  exit of iCloud Private Relay or similar
boolean  is_residential_proxy      proxy at a subscriber
boolean  is_legitimate_proxy       proxy of a company or ISP
boolean  is_hosting                of a hosting provider or cloud
boolean  is_anycast                announced from several places
boolean  is_mobile                 of a mobile network
boolean  is_satellite              of a satellite network
text     proxy_type                IP2Proxy's type: VPN, TOR, DCH, PUB, …
text     proxy_provider            VPN or proxy service
text     threat                    IP2Proxy's threats: SPAM, SCANNER, BOTNET, …
text     last_seen_date            last day of activity as a proxy
integer  last_seen_days            days since last activity as a proxy
integer  fraud_score               IP2Proxy's score, 0 to 99
integer  anonymizer_confidence     confidence in percent
real     ip_risk                   MaxMind's risk, 0.01 to 99
real     static_ip_score           MaxMind's score, 0 to 99.99
integer  accuracy_radius           kilometres around the coordinates
integer  metro_code                US metro code (DMA)
integer  geoname_id                GeoNames id, most specific place
integer  city_geoname_id           GeoNames id
integer  region_geoname_id         GeoNames id
integer  country_geoname_id        GeoNames id
integer  elevation                 metres
integer  average_income            US dollars
integer  population_density        people per km²
integer  country_confidence        percent
integer  subdivision_confidence    percent
integer  city_confidence           percent
integer  postal_confidence         percent
text     subdivision_2_code        second subdivision, without the country
text     subdivision_2_name        second subdivision
text     district                  district or county
text     registered_country_code   where the network is registered
text     represented_country_code  country that its users represent
text     represented_country_type  such as military
text     city_name_LANG            city in a language
text     region_name_LANG          region in a language
text     country_name_LANG         country in a language
text     area_code                 telephone area code
text     weather_station_name      weather station
text     domain                    domain of the user of the network
text     usage_type                kind of user, in the vendor's words
text     address_type              A, U, M, B: anycast, unicast, multicast, broadcast
text     category                  IAB category, such as IAB19-11
text     mcc                       mobile country code
text     mnc                       mobile network code
text     mobile_brand              brand of the mobile network
text     asn_kind                  isp, hosting, business, education, …
text     asn_domain                domain of the AS holder
text     asn_country_code          where the AS is registered
text     cloud_provider            provider
text     cloud_region              the cloud's name
text     cloud_service             the cloud's name or tags
text     rir                       registry that delegated the range
text     rir_status                allocated or assigned
text     rir_date                  day of the delegation
"""
#: In the order of ``docs/data/sources/columns.md``.
COLUMNS = tuple(
    VendorColumn(name, type_, meaning)
    for type_, name, meaning in (line.split(None, 2) for line in _TABLE.strip().splitlines())
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
