"""Own columns in records of ``logging`` and events of structlog, of private addresses too."""

from __future__ import annotations

import logging

import pytest

import geolookup
from geolookup.integrations.logs import GeoFilter, GeoProcessor
from tests.own_sources import own_dataset

_FIELDS = {"site": "own.site_id", "vpn": "own.is_vpn", "country": "country"}


def test_own_columns_replace_the_address() -> None:
    with geolookup.open(own_dataset()) as engine:
        geo_filter = GeoFilter(fields=_FIELDS, engine=engine)
        processor = GeoProcessor(fields=_FIELDS, engine=engine)
        for address, values in (
            ("10.1.2.3", ("Branch", None, None)),
            ("8.8.8.9", ("Mountain View", True, "US")),
            ("127.0.0.1", (None, None, None)),
            ("nobody", (None, None, None)),
        ):
            record = logging.makeLogRecord({"ip": address, "msg": "from %s", "args": (address,)})
            assert geo_filter.filter(record)
            assert tuple(vars(record)[name] for name in _FIELDS) == values
            assert address == "nobody" or address not in record.getMessage()
            event = processor(None, "info", {"ip": address})
            assert event == dict(zip(_FIELDS, values, strict=True))


def test_an_unknown_column_is_refused() -> None:
    with (
        geolookup.open(own_dataset()) as engine,
        pytest.raises(ValueError, match=r"GeoFilter: the dataset has no column 'own\.site'"),
    ):
        GeoFilter(fields=["own.site"], engine=engine)
