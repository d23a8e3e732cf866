"""The stand-in for geoip2's reader: its models and errors, on any dataset."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from fnmatch import fnmatchcase
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import geolookup
from geolookup.errors import BuildError
from tests.conftest import ROOT, Build
from tests.datasets import SMALL
from tests.skips import needs, optional

if TYPE_CHECKING:
    from geolookup.compat.geoip2 import Reader
else:
    Reader = optional("geolookup.compat.geoip2").Reader
errors, models = optional("geoip2.errors"), optional("geoip2.models")
database, maxminddb = optional("geoip2.database"), optional("maxminddb")
pytestmark = needs("geoip2")

GOOGLE = "8.8.8.8"
#: The source distribution of geoip2, which has the databases; ``.ci/run`` downloads it.
SDIST = "GEOLOOKUP_GEOIP2_SDIST"
DATA = "tests/data/test-data"
#: The databases that have fields of the contract, and the method of each.
DATABASES = {
    "GeoIP2-City-Test": "city",
    "GeoIP2-Country-Test": "country",
    "GeoIP2-Enterprise-Test": "enterprise",
    "GeoIP2-ISP-Test": "isp",
    "GeoIP2-Connection-Type-Test": "connection_type",
    "GeoLite2-ASN-Test": "asn",
}


@pytest.fixture(scope="module")
def reader() -> Iterator[Reader]:
    with Reader(SMALL) as opened:
        yield opened


def test_models(reader: Reader) -> None:
    result = reader.city(GOOGLE)
    assert type(result) is models.City
    assert (result.country.iso_code, result.country.name) == ("US", "United States")
    assert result.country.is_in_european_union is False
    assert (result.continent.code, result.continent.name) == ("NA", "North America")
    assert (result.city.name, result.postal.code) == ("Mountain View", "94043")
    assert result.subdivisions.most_specific.iso_code == "CA"
    assert result.subdivisions[0].name == "California"
    assert (result.location.latitude, result.location.longitude) == (37.4229, -122.085)
    assert result.location.time_zone == "America/Los_Angeles"
    assert result.registered_country.iso_code is None
    assert result.traits.autonomous_system_number is None
    country, enterprise = reader.country("2001:470::1"), reader.enterprise(GOOGLE)
    assert (type(country), type(enterprise)) == (models.Country, models.Enterprise)
    assert (country.country.iso_code, enterprise.city) == ("US", result.city)
    assert enterprise.traits.autonomous_system_number == 15169
    assert (enterprise.traits.isp, enterprise.traits.user_type) == ("Google LLC", "hosting")
    asn, isp = reader.asn(GOOGLE), reader.isp(GOOGLE)
    assert (type(asn), type(isp)) == (models.ASN, models.ISP)
    assert asn.autonomous_system_number == isp.autonomous_system_number == 15169
    assert asn.autonomous_system_organization == isp.isp == "Google LLC"
    assert isp.organization == "Google Public DNS"


def test_the_network_is_that_of_the_engine(reader: Reader, sample: geolookup.Engine) -> None:
    for address in (GOOGLE, "2001:4860:4860::8888", "::ffff:8.8.8.8", "2002:808:808::"):
        network = sample.answer(address).prefix
        for asked in (address, ip_address(address)):
            for item in (reader.city(asked).traits, reader.asn(asked)):
                assert item.ip_address == ip_address(address)
                assert item.network == network


def test_unknown_and_private_addresses(reader: Reader) -> None:
    for address, network in (
        ("10.10.10.10", "10.0.0.0/8"),
        ("255.255.255.255", "224.0.0.0/3"),
        ("::ffff:192.168.0.1", "::ffff:192.168.0.0/112"),
        ("2001:db8::1", "2001:db8::/32"),
        ("45.0.0.1", "45.0.0.0/11"),  # public, and not in the dataset
    ):
        for method in DATABASES.values():
            with pytest.raises(errors.AddressNotFoundError) as caught:
                getattr(reader, method)(address)
            assert caught.value.ip_address == address
            assert caught.value.network == ip_network(network)
            assert address not in str(caught.value)


def test_each_method_finds_what_its_own_layer_says(build: Build) -> None:
    text = "network,country_code,asn,connection_type\n9.0.0.0/9,US,,\n9.128.0.0/9,,64500,Dialup\n"
    path, _ = build({"a.csv": text})
    with Reader(path) as reader:
        assert reader.country("9.0.0.1").country.iso_code == "US"
        assert reader.asn("9.128.0.1").autonomous_system_number == 64500
        for method, address in (("asn", "9.0.0.1"), ("country", "9.128.0.1")):
            with pytest.raises(errors.AddressNotFoundError):
                getattr(reader, method)(address)


def test_malformed_addresses(reader: Reader) -> None:
    for address in ("invalid", "", "1.2.3", "010.8.8.8", "8.8.8.8/32", "fe80::1%1"):
        with pytest.raises(ValueError, match="appear to be an IPv4 or IPv6 address") as caught:
            reader.city(address)
        assert not address or address not in str(caught.value)
    other: Any
    for other in (None, 134744072, b"8.8.8.8", ["8.8.8.8"]):
        with pytest.raises(TypeError, match="address object of ipaddress"):
            reader.city(other)


def test_locales() -> None:
    with Reader(SMALL, ["xx", "en"]) as reader:
        assert reader.city(GOOGLE).city.name == "Mountain View"
    with Reader(SMALL, locales=["de"]) as reader:
        result = reader.city(GOOGLE)
        assert result.city.name is None
        assert result.city.names == {"en": "Mountain View"}


def test_what_is_read(sample: geolookup.Engine, tmp_path: Path) -> None:
    with Reader(sample) as reader:
        assert reader.asn(GOOGLE).autonomous_system_number == 15169
    assert sample.lookup(GOOGLE)["success"]  # the engine stays open
    with Reader() as reader:
        assert reader.metadata().description == {"en": "geolookup-sample"}
    path = tmp_path / "GeoLite2-City.mmdb"
    path.write_bytes(b"")
    with pytest.raises(BuildError, match="empty file"):
        Reader(path)
    closed = Reader(SMALL, mode=2)
    closed.close()
    for call in (lambda: closed.city(GOOGLE), closed.metadata):
        with pytest.raises(ValueError, match="the reader is closed"):
            call()


def test_another_dataset_after_a_reload(build: Build) -> None:
    path, _ = build({"a.csv": "network,asn\n9.0.0.0/8,64500\n"})
    with geolookup.open(path, allow_lost_fields=True) as engine:
        reader = Reader(engine)
        assert reader.metadata().build_epoch == 0  # no source has a date
        assert reader.metadata().database_type == "geolookup-ASN"
        assert reader.asn("9.9.9.9").autonomous_system_number == 64500
        (path.parent / "a.csv").write_text("network,country_code\n9.0.0.0/8,US\n", encoding="utf-8")
        geolookup.build(path.parent / "recipe.toml", path, force=True)
        assert engine.reload()
        assert reader.country("9.9.9.9").country.iso_code == "US"
        with pytest.raises(TypeError):
            reader.asn("9.9.9.9")


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source distribution, unpacked."""
    if SDIST not in os.environ:
        pytest.skip(f"set {SDIST}: pip download --no-deps --no-binary geoip2 geoip2")
    folder = tmp_path_factory.mktemp("sdist")
    # Not ``tarfile``: early releases of Python 3.11 have no filters, later ones ask for one.
    subprocess.run(["tar", "-xzf", os.environ[SDIST], "-C", folder], check=True)
    (root,) = folder.iterdir()
    return root


@pytest.fixture(scope="module")
def datasets(sources: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which each dataset has the path of the database that it is compiled from."""
    folder = tmp_path_factory.mktemp("compiled")
    (folder / DATA).mkdir(parents=True)
    for name in DATABASES:
        geolookup.build(sources / DATA / f"{name}.mmdb", folder / DATA / f"{name}.mmdb")
    return folder


@pytest.mark.long
@needs("maxminddb")
@pytest.mark.parametrize(("name", "method"), [*DATABASES.items()])
def test_every_attribute_that_differs_is_on_the_page(
    sources: Path, datasets: Path, name: str, method: str
) -> None:
    page = (ROOT / "docs/integrate/from-geoip2.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.*?) \|", page.partition("\n## Differences\n")[2], re.MULTILINE)
    patterns = {word for row in rows for word in re.findall(r"`([^`]+)`", row)}
    compared = 0
    path = Path(DATA, f"{name}.mmdb")
    with database.Reader(sources / path) as theirs, Reader(datasets / path) as ours:
        for address in _addresses(sources / path):
            expected, actual = (_attributes(item, method, address) for item in (theirs, ours))
            if not actual:  # a record of flags only
                kept = {path for path, item in expected.items() if item is not True}
                undescribed = {path for path in kept if not _differs(path, patterns)}
                assert undescribed <= {"traits.ip_address", "traits.network"}
                continue
            for attribute in {*expected, *actual}:
                same = expected.get(attribute) == actual.get(attribute)
                assert same or _differs(attribute, patterns), (address, attribute)
                compared += same
    assert compared > 40


def _differs(name: str, patterns: set[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _addresses(path: Path) -> list[str]:
    with maxminddb.open_database(path) as opened:
        return [str(network[0]) for network, _ in opened]


def _attributes(reader: Any, method: str, address: str) -> dict[str, object]:
    """Return the attributes of an answer by path: ``subdivisions.0.iso_code``; none if unknown."""
    try:
        return dict(_flat(getattr(reader, method)(address).to_dict(), ""))
    except errors.AddressNotFoundError:
        return {}


def _flat(value: Any, path: str) -> list[tuple[str, object]]:
    if not isinstance(value, (dict, list)):
        return [(path, value)]
    items = value.items() if isinstance(value, dict) else enumerate(value)
    return [
        item for key, inner in items for item in _flat(inner, f"{path}.{key}" if path else str(key))
    ]
