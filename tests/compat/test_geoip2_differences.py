"""The stand-in beside geoip2's reader, on datasets compiled from geoip2's own test databases.

``$GEOLOOKUP_GEOIP2_SDIST`` names the source distribution of geoip2 that has them; ``.ci/run``
downloads it. ``docs/use/from-geoip2.md`` lists the differences.
"""

from __future__ import annotations

import os
import re
import subprocess
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

import geolookup
from tests.conftest import ROOT
from tests.skips import needs, optional

Reader = optional("geolookup.compat.geoip2").Reader
database = optional("geoip2.database")
errors, maxminddb = optional("geoip2.errors"), optional("maxminddb")
pytestmark = [pytest.mark.long, needs("geoip2", "maxminddb")]

PAGE = (ROOT / "docs/use/from-geoip2.md").read_text(encoding="utf-8")
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


def words_below(heading: str) -> set[str]:
    """Return the words in code of the first column of the table below a heading of the page."""
    _, actual, after = PAGE.partition(f"\n## {heading}\n")
    assert actual, heading
    rows = re.findall(r"^\| (`.*?) \|", after.partition("\n## ")[0], re.MULTILINE)
    return {word for row in rows for word in re.findall(r"`([^`]+)`", row)}


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


@pytest.mark.parametrize(("name", "method"), [*DATABASES.items()])
def test_every_attribute_that_differs_is_on_the_page(
    sources: Path, datasets: Path, name: str, method: str
) -> None:
    patterns = words_below("Differences")
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
