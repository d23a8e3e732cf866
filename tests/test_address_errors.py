"""The errors about an address: they are ValueErrors, and only their attribute has the address."""

from __future__ import annotations

import copy
import pickle
import traceback
from collections.abc import Callable
from ipaddress import IPv4Address
from itertools import product
from typing import Any

import pyarrow as pa
import pytest

import geolookup
from geolookup.errors import AddressError
from tests.kernel.modules import MODULES

CALLS: list[Callable[[Any, object], object]] = [
    lambda engine, ip: engine.data(ip),
    lambda engine, ip: engine.get(ip, "location.city_name"),
    lambda engine, ip: engine.get(ip, "time"),
    lambda engine, ip: engine.network(ip),
    lambda engine, ip: engine.explain(ip),
]
ADDRESSES = [
    ("10.1.2.3", geolookup.PrivateAddressError),
    (IPv4Address("10.1.2.3"), geolookup.PrivateAddressError),
    ("::ffff:10.1.2.3", geolookup.PrivateAddressError),
    ("fe80::77", geolookup.PrivateAddressError),
    ("8.8.8.256", geolookup.InvalidAddressError),
    ("zz::77", geolookup.InvalidAddressError),
    (b"8.8.8.8", geolookup.InvalidAddressError),
    (None, geolookup.InvalidAddressError),
]


def test_the_attribute_is_the_input(sample: geolookup.Engine) -> None:
    for call, (address, kind) in product(CALLS, ADDRESSES):
        with pytest.raises(kind) as caught:
            call(sample, address)
        error = caught.value
        assert isinstance(error, ValueError)
        assert getattr(error, "address", "no member") is address
        text = "".join(traceback.format_exception(error, limit=0))
        for shown in (str(error), repr(error), text, str(vars(error)), str(error.args)):
            assert address is None or str(address) not in shown
        assert str(error) == kind.message


@pytest.mark.parametrize("module", MODULES)
def test_each_kernel_gives_it(sample: geolookup.Engine, module: Any) -> None:
    kernel = module.Kernel(sample._open_state().dataset)
    for call, (address, kind) in product(CALLS[:3], ADDRESSES):
        with pytest.raises(kind) as caught:
            call(kernel, address)
        assert caught.value.address is address


@pytest.mark.parametrize("kind", [geolookup.InvalidAddressError, geolookup.PrivateAddressError])
def test_a_pickle_or_a_copy_has_no_address(kind: type[AddressError]) -> None:
    error = kind("10.1.2.3")
    pickled = pickle.dumps(error)
    assert b"10.1.2.3" not in pickled
    for again in (pickle.loads(pickled), copy.copy(error)):  # noqa: S301 - our own bytes
        assert type(again) is kind
        assert again.address is None
        assert str(again) == str(error)


@pytest.mark.parametrize(("ips", "given"), [(["8.8.8.8", "10.1.2.3"], "10.1.2.3"), ([None], None)])
def test_a_row_of_a_column(sample: geolookup.Engine, ips: list[str | None], given: object) -> None:
    with pytest.raises(AddressError) as caught:
        sample.enrich(pa.table({"ip": pa.array(ips, pa.string())}), on_invalid="raise")
    assert caught.value.address == given
    assert "10.1.2.3" not in "".join(caught.value.__notes__)


def test_a_row_that_is_not_utf8(sample: geolookup.Engine) -> None:
    column = pa.array([b"8.8.\xff"], pa.binary()).cast(pa.string(), safe=False)
    with pytest.raises(geolookup.InvalidAddressError) as caught:
        sample.enrich(pa.table({"ip": column}), on_invalid="raise")
    assert caught.value.address == b"8.8.\xff"
