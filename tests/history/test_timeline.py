"""The forms of addresses and prefixes that have a history, and private space."""

from __future__ import annotations

from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

import pytest

import geolookup
from geolookup.errors import InvalidAddressError, PrivateAddressError
from tests.history import pool
from tests.store.numbered import published


def test_forms_of_addresses(tmp_path: Path) -> None:
    form: Any
    store = tmp_path / "store"
    for number in (0, 1):
        geolookup.publish(pool.dataset(number), store)
    with geolookup.open(store) as engine:
        plain, prefix = engine.history("8.8.8.8"), engine.history("8.8.8.8/30")
        assert plain.changes
        assert plain.first.fields is not None
        assert prefix.first.fields is None
        for form in (ip_address("8.8.8.8"), "::ffff:8.8.8.8", "2002:808:808::1"):
            assert engine.history(form).changes == plain.changes, form
        assert engine.history("2002:808:808::1").ip == "2002:808:808::1"
        for form in (ip_network("8.8.8.8/30"), "::ffff:8.8.8.8/126", "2002:808:808::/46"):
            assert engine.history(form).changes == prefix.changes, form
        for form in ("2002::/15", "::/80"):  # only one end is in space that carries IPv4
            assert engine.history(form).changes == (), form
        for form in ("[::ffff:8.8.8.8]:443", " 8.8.8.8 ", "8.8.8.8, 10.0.0.1"):
            assert engine.history(form, clean=True).changes == plain.changes, form
            with pytest.raises(InvalidAddressError):
                engine.history(form)
        for form in ("8.8.8.8/24", "8.8.8.0/33", "8.8.8.0/255.255.255.0", "x/8", None, b"8.8.8.8"):
            with pytest.raises(InvalidAddressError):
                engine.history(form, clean=True)


def test_private_space_without_private_columns(tmp_path: Path) -> None:
    store = published(tmp_path / "store", 0, 1)
    with geolookup.open(store) as engine:
        for private in ("10.0.0.1", "10.0.0.0/8", "::ffff:10.0.0.1", "fd00::/8"):
            with pytest.raises(PrivateAddressError):
                engine.history(private)
        assert len(engine.history("0.0.0.0/0").changes) == 3
        assert engine.history("10.0.0.0/7").changes == ()  # 11.0.0.0/8 is public
