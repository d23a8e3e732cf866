"""Own columns of the clients of requests, of private clients too."""

from __future__ import annotations

from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

import geolookup
from geolookup.errors import DatasetError
from tests.integrations.test_client import asgi, wsgi
from tests.own_sources import own_dataset

_CLIENTS = {
    "10.1.2.3": ("Branch", None, 10002),
    "100.64.0.1": ("CGNAT", None, 10002),
    "fd00::1": ("ULA", None, 10002),
    "127.0.0.1": (None, None, 10002),
    "8.8.8.9": ("Mountain View", "US", None),
    "": (None, None, 10001),
}


def clients(engine: geolookup.Engine, address: str) -> tuple[Any, Any]:
    return asgi(engine, {"client": (address, 1)}), wsgi(engine, {"REMOTE_ADDR": address})


def test_own_columns_of_clients() -> None:
    with geolookup.open(own_dataset()) as engine:
        for address, (site, country, code) in _CLIENTS.items():
            for geo in clients(engine, address):
                assert geo.own.site_id == site
                assert (geo.location.country_code, geo.error_code) == (country, code)
                assert bool(geo) == (code is None)
                with pytest.raises(AttributeError, match="did you mean 'site_id'"):
                    _ = geo.own.site
                assert "own" not in geo.to_dict()


def test_a_closed_engine_has_no_values() -> None:
    with geolookup.open(own_dataset()) as engine:
        (geo, _), (earlier, _) = clients(engine, "10.1.2.3"), clients(engine, "10.1.2.3")
        assert earlier.own.site_id == "Branch"
    assert (geo.own.site_id, geo.error_code) == (None, None)


def test_damaged_own_rows_give_an_answer_without_values(tmp_path: Path) -> None:
    folder = copytree(own_dataset(), tmp_path / "dataset")
    damaged = (folder / "own.arrow").read_bytes().replace(b'"', b"'")
    (folder / "own.arrow").write_bytes(damaged)
    with geolookup.open(folder) as engine:
        with pytest.raises(DatasetError):
            engine.own("8.8.8.9")
        for geo in clients(engine, "8.8.8.9"):
            assert (geo.success, geo.own.site_id, geo.error_code) == (False, None, None)


def test_a_dataset_without_own_columns_says_so(sample: geolookup.Engine) -> None:
    for geo in clients(sample, "8.8.8.8"):
        with pytest.raises(AttributeError, match="has no member 'site_id'; declare it"):
            _ = geo.own.site_id
        assert geo.location.country_code == "US"
