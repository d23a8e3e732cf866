"""Hints for names of other products."""

from __future__ import annotations

import pytest

from geolookup.contract import fields, other_names


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("country", "location.country_code"),
        ("location.country", "location.country_code"),
        ("country.iso_code", "location.country_code"),
        ("countryCode", "location.country_code"),
        ("iso_code", "location.country_code"),
        ("country.names.en", "location.country_name"),
        ("region", "location.region_name"),
        ("state", "location.region_code"),
        ("city", "location.city_name"),
        ("zip", "location.postal_code"),
        ("postal_code", "location.postal_code"),
        ("lat", "location.latitude"),
        ("longitude", "location.longitude"),
        ("location_city_name", "location.city_name"),
        ("timezone", "time.zone"),
        ("location.time_zone", "time.zone"),
        ("TZ", "time.zone"),
        ("currency_code", "currency.code"),
        ("asn", "network.asn"),
        ("autonomous_system_number", "network.asn"),
        ("org", "network.organization"),
        ("isp", "network.isp"),
    ],
)
def test_a_name_of_another_product(name: str, path: str) -> None:
    assert str(fields.unknown_path(name)) == f"no field or group {name!r}; did you mean {path!r}?"


def test_every_name_leads_to_a_path() -> None:
    assert set(other_names._PATHS.values()) <= set(fields.PATHS)
    listed = [name for names in other_names._NAMES.values() for name in names.split()]
    assert len(listed) == len(set(listed))
    assert not set(listed) & set(fields.PATHS)


@pytest.mark.parametrize("name", ["", "location.", "qwerty", "-"])
def test_a_name_that_nobody_uses(name: str) -> None:
    assert other_names.path_called(name) is None
