"""Names that other products and tables give to the fields of an answer, for hints alone.

Sources: the models of geoip2 and its MMDB records, the JSON of ipinfo, ip-api and ipapi, the
records of IP2Location and geoip2fast, and the names of columns in enriched tables.
"""

from __future__ import annotations

from geolookup.contract.fields import FIELDS

#: Names by path, in lower case and without separators: ``countryCode``, ``country_code``.
_NAMES = {
    "ip": "address ipaddress query host",
    "ip_type": "version ipversion family type",
    "location": "geo place",
    "location.continent_code": "continent",
    "location.country_code": "country iso isocode countryiso countryisocode countryshort cc "
    "registeredcountry registeredcountryisocode",
    "location.country_code_iso3": "iso3 countryiso3 isoalpha3",
    "location.country_name": "countrylong countrynamesen countryfullname",
    "location.country_capital": "capital",
    "location.country_tld": "tld",
    "location.country_calling_code": "callingcode dialcode phonecode iddcode",
    "location.country_flag_emoji": "flag emoji emojiflag",
    "location.country_languages": "language languages",
    "location.country_area_km2": "area countryarea",
    "location.country_population": "population",
    "location.country_neighbors": "neighbors neighbours borders",
    "location.country_is_eu": "eu iseu ineu isineuropeanunion countryisineuropeanunion",
    "location.region_code": "state statecode subdivisioncode province provincecode",
    "location.region_name": "region statename subdivision subdivisions provincename",
    "location.city_name": "city town cityname citynamesen citynames",
    "location.postal_code": "zip zipcode postal postcode postalzip",
    "location.latitude": "lat",
    "location.longitude": "lon lng long",
    "location.weather_code": "weather weatherstationcode weatherstation",
    "time": "localtime datetime",
    "time.zone": "timezone tz timezonename timezoneid tzname",
    "time.utc_offset": "offset gmtoffset timezoneoffset",
    "time.utc_offset_seconds": "offsetseconds",
    "time.is_dst": "dst daylightsaving",
    "currency.code": "currencycode",
    "network.asn": "as asnumber autonomoussystemnumber",
    "network.asn_organization": "asname asorg asorganization autonomoussystemorganization aso",
    "network.isp": "provider carrier internetserviceprovider",
    "network.organization": "org company companyname organisation organizationname",
    "network.connection_type": "connectiontype connection netspeed nettype speed",
    "network.user_type": "usertype usagetype usage hosting",
}
_PATHS = {name: path for path, names in _NAMES.items() for name in names.split()}


def path_called(name: str) -> str | None:
    """Return the path of the field that has this name elsewhere, or None.

    Also of a member without its object (``city_name``), and of a column (``location_city_name``).
    """
    whole = _plain(name)
    own = {_plain(each.member): each.path for each in reversed(FIELDS)}
    own |= {_plain(each.path): each.path for each in FIELDS}
    last = _plain(name.rpartition(".")[2])
    return next(
        (known[each] for each in (whole, last) for known in (_PATHS, own) if each in known), None
    )


def _plain(name: str) -> str:
    return "".join(filter(str.isalnum, name.casefold()))
