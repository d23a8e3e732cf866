"""The stand-in beside Django's own ``GeoIP2`` on the same data, method by method."""

from __future__ import annotations

import ipaddress
import socket
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import geolookup
from tests.conftest import build_at

ROWS = """network,continent_code,country_code,region_code,region_name,city_name,postal_code,\
latitude,longitude,time_zone
8.8.8.0/24,NA,US,CA,California,Mountain View,94043,37.4,-122.1,America/Los_Angeles
2001:4860::/32,NA,US,,,,,,,
1.2.3.0/24,EU,DE,,,Berlin,,52.5,13.4,Europe/Berlin
"""
ADDRESSES = ("8.8.8.8", "2001:4860::1", "1.2.3.4")
#: Addresses, malformed ones, and ones without a row.
QUERIES = (*ADDRESSES, ipaddress.ip_address("8.8.8.8"), "10.0.0.1", "9.9.9.9", 5, None, "", "a b")
#: Methods and their arguments; ``geos`` looks for its libraries anew each time.
METHODS = {
    **dict.fromkeys(("city", "country", "country_code", "country_name"), QUERIES),
    **dict.fromkeys(("lon_lat", "lat_lon", "coords"), QUERIES),
    "geos": ADDRESSES[:1],
}


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_at(tmp_path_factory.mktemp("ours"), {"a.csv": ROWS})[0]


@pytest.fixture(scope="module")
def ours(dataset: Path) -> Any:
    from geolookup.integrations.django.geoip2 import GeoIP2

    return GeoIP2(dataset)


@pytest.fixture(scope="module")
def theirs(dataset: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Django's own, on the dataset as an MMDB file."""
    from django.contrib.gis.geoip2 import GeoIP2

    file = tmp_path_factory.mktemp("theirs") / "a.mmdb"
    with geolookup.open(dataset) as engine:
        engine.export(file, schema="city")
    reader: Any = GeoIP2(file)
    yield reader
    reader._reader.close()


def outcome(geoip: Any, method: str, query: object) -> Any:
    """The result, or the kind of the exception."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            result = getattr(geoip, method)(query)
        except Exception as error:  # noqa: BLE001 - it is compared
            result = type(error)
    return result, [item.category for item in warned]


def test_the_same_results_and_exceptions(
    ours: Any, theirs: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "gethostbyname", _unknown)  # no name server here
    for method, queries in METHODS.items():
        assert hasattr(ours, method) == hasattr(theirs, method), method
        for query in queries if hasattr(theirs, method) else ():
            assert outcome(ours, method, query) == outcome(theirs, method, query), (method, query)


def _unknown(_name: str) -> str:
    raise socket.gaierror("name or service not known")


def test_host_names_are_resolved_as_by_django(ours: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "gethostbyname", {"dns.example": "8.8.8.8"}.__getitem__)
    assert ours.country_code("dns.example") == "US"
    assert ours.city("dns.example")["city"] == "Mountain View"


def test_the_setting_and_the_parameters_of_django(dataset: Path, tmp_path: Path) -> None:
    from django.contrib.gis.geoip2 import GeoIP2 as DjangosOwn
    from django.test import override_settings

    from geolookup.integrations.django.geoip2 import GeoIP2, GeoIP2Exception

    with override_settings(GEOLOOKUP={"DATASET": dataset}, GEOIP_PATH="/nowhere"):
        geoip = GeoIP2(cache=GeoIP2.MODE_MEMORY, country="a.mmdb", city="b.mmdb")
        assert isinstance(geoip, DjangosOwn)
        assert geoip.city("1.2.3.4")["city"] == "Berlin"
        del geoip
        assert GeoIP2().city("1.2.3.4")["city"] == "Berlin"
    with pytest.raises(GeoIP2Exception, match="Invalid GeoIP caching option: 3"):
        GeoIP2(dataset, cache=3)
    with pytest.raises(GeoIP2Exception, match=f"{tmp_path}/nothing: "):
        GeoIP2(tmp_path / "nothing")
