"""The comparison in the README: its cells are what the packages do."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib.metadata import files
from pathlib import Path

import pytest

import geolookup
from tests.conftest import ROOT
from tests.datasets import SMALL
from tests.skips import needs

_SECTION = (ROOT / "README.md").read_text(encoding="utf-8").partition("\n## Comparison\n")[2]
_HEAD, *_ROWS = (
    line.split(" | ")
    for line in re.findall(r"^\| (.+) \|$", _SECTION.partition("\n## ")[0], re.MULTILINE)
)
#: By feature, the cell of each column.
CELLS = {row[0]: dict(zip(_HEAD[1:], row[1:], strict=True)) for row in _ROWS}
COLUMNS = {
    "geoip2": "geoip2, maxminddb",
    "maxminddb": "geoip2, maxminddb",
    "IP2Location": "IP2Location",
    "geoip2fast": "geoip2fast",
}
PRIVATE, MALFORMED = "10.0.0.1", "nonsense"


@pytest.mark.parametrize("package", COLUMNS)
def test_the_files_of_a_package(package: str) -> None:
    pytest.importorskip(package)
    names = [file.name for file in files(package) or []]
    assert (CELLS["type annotations"][COLUMNS[package]] == "yes") == ("py.typed" in names)
    data = [name for name in names if name.endswith((".mmdb", ".BIN", ".dat.gz"))]
    assert (CELLS["data in the package"][COLUMNS[package]] == "none") == (not data)


def test_answers_of_geolookup() -> None:
    with geolookup.open(SMALL) as engine:
        for feature, ip in (("private address", PRIVATE), ("malformed address", MALFORMED)):
            assert CELLS[feature]["geolookup"] == str(engine.get(ip, "country"))


def outcome(call: Callable[[str], object], ip: str) -> str:
    """Return how the table says that a call ended: with an exception or with None."""
    try:
        return str(call(ip))
    except ValueError:
        return "exception"


@needs("geoip2.database", "maxminddb", "geoip2.errors")
def test_errors_of_geoip2_and_maxminddb(tmp_path: Path) -> None:
    import geoip2.database
    import maxminddb

    path = tmp_path / "city.mmdb"
    with geolookup.open(SMALL) as engine:
        engine.export(path, schema="city")
    column = "geoip2, maxminddb"
    with maxminddb.open_database(path) as database, geoip2.database.Reader(path) as reader:
        assert CELLS["malformed address"][column] == outcome(database.get, MALFORMED)
        assert CELLS["malformed address"][column] == outcome(reader.city, MALFORMED)
        with pytest.raises(geoip2.errors.AddressNotFoundError):
            reader.city(PRIVATE)
        private = f"exception; maxminddb: {outcome(database.get, PRIVATE)}"
        assert CELLS["private address"][column] == private


@needs("geoip2fast")
def test_errors_of_geoip2fast() -> None:
    from geoip2fast import GeoIP2Fast

    private, malformed = map(GeoIP2Fast().lookup, (PRIVATE, MALFORMED))
    assert CELLS["private address"]["geoip2fast"] == f"`{private.country_code}`"
    assert CELLS["malformed address"]["geoip2fast"] == f"`{malformed.country_name}`"
