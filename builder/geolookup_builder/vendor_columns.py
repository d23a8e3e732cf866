"""The columns that readers of vendors offer beside the fields of the contract.

A recipe declares one in ``[columns]`` by its name here, or maps it in a source:
``columns = { my_flag = "is_vpn" }``. Without that no reader reads it. Each format has a table from
these names to its own columns; ``sources.reading.plans`` reads them.
"""

from __future__ import annotations

import re

#: The names by type. LANG stands for a language: city_name_pt_br.
_NAMES = {
    "boolean": """
        is_anonymous is_proxy is_vpn is_tor is_relay is_residential_proxy is_legitimate_proxy
        is_hosting is_anycast is_mobile is_satellite
    """,
    "integer": """
        last_seen_days fraud_score anonymizer_confidence accuracy_radius metro_code geoname_id
        city_geoname_id region_geoname_id country_geoname_id elevation average_income
        population_density country_confidence subdivision_confidence city_confidence
        postal_confidence
    """,
    "real": "ip_risk static_ip_score",
    "text": """
        proxy_type proxy_provider threat last_seen_date subdivision_2_code subdivision_2_name
        district registered_country_code represented_country_code represented_country_type
        city_name_LANG region_name_LANG country_name_LANG area_code weather_station_name domain
        usage_type address_type category mcc mnc mobile_brand asn_kind asn_domain
        asn_country_code cloud_provider cloud_region cloud_service rir rir_status rir_date
    """,
}
#: The type of each offered column in recipes, one of ``contract.schema.TYPES``.
COLUMNS = {name: kind for kind, names in _NAMES.items() for name in names.split()}
#: Stands for a language in names of columns, and of columns of files.
LANGUAGE = "LANG"
#: "city_name_pt_br": the name with ``LANG``, language, and region or script.
_TRANSLATED = re.compile(r"((?:city|region|country)_name_)([a-z]{2})(?:_([a-z]{2}|[a-z]{4}))?")


def offered_type(name: str) -> str | None:
    """Return the type of the offered column that a name means; None if there is none.

    ``city_name_de`` is ``city_name_LANG``.
    """
    return COLUMNS.get(with_language(name)[0])


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
