"""``explain`` of own columns: sources, values and ranges, for private addresses too."""

from __future__ import annotations

from ipaddress import ip_address, ip_network
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import HealthCheck, given, settings

import geolookup
from tests import own_random
from tests.internals.dataset import Dataset, explain
from tests.internals.kernel import State
from tests.internals.kernel import python as kernel_python
from tests.oracle import Address
from tests.own_sources import own_dataset
from tests.tiers import scaled

LAYERS = ("own.site", "own.risk", "own.share", "own.flag", "own.tags")


@settings(max_examples=scaled(4, 60), deadline=None, suppress_health_check=list(HealthCheck))
@given(own_random.rows)
def test_ranges_and_values_are_as_the_rows_state(rows: list[own_random.Row]) -> None:
    known = {one: own_random.expected(rows, one) for one in own_random.addresses()}
    with TemporaryDirectory() as folder:
        dataset = Dataset(own_random.build(Path(folder), rows))
        sources = dataset.manifest.metadata().sources
        for kind in (State, kernel_python.State):
            state = kind(dataset)
            for address, values in known.items():
                data = state.envelopes([str(address)], 0)[0]["data"]
                explained = explain(state.dataset, sources, str(address), data)
                assert address in ip_network(explained["network"])
                for layer in LAYERS:
                    _check(explained["layers"][layer], layer, address, known)
                assert (explained["layers"]["location"] is None) == ("country_code" not in values)


def _check(
    decided: dict[str, Any] | None,
    layer: str,
    address: Address,
    known: dict[Address, dict[str, Any]],
) -> None:
    value = known[address].get(layer)
    if decided is None or value is None:
        assert decided is value is None
        return
    assert (decided["source"], decided["values"]) == ("rows.csv", {layer: value})
    first, last = map(ip_address, decided["same_values"].split("-"))
    assert int(first) <= int(address) <= int(last)
    same = [
        one
        for one in known
        if one.version == address.version and int(first) <= int(one) <= int(last)
    ]
    assert all(known[one].get(layer) == value for one in same)
    for outside in (first - 1, last + 1):
        # An end is where the value, or the kind of space, changes.
        is_other = own_random.is_special(outside) != own_random.is_special(address)
        assert known[outside].get(layer) != value or is_other
    assert address in ip_network(decided["prefix"])


def test_a_private_address_is_explained_by_its_own_columns() -> None:
    with geolookup.open(own_dataset()) as engine:
        explained = engine.explain("10.1.2.3")
        assert explained["network"] == "10.1.0.0/16"
        assert explained["layers"]["own.site_id"] == {
            "source": "sites.csv",
            "date": None,
            "licence": None,
            "range": "10.0.0.0-10.255.255.255",
            "values": {"own.site_id": "Branch"},
            "same_values": "10.1.0.0-10.1.255.255",
            "prefix": "10.1.0.0/16",
        }
        assert explained["layers"]["location"] is None
        # An IPv6 address that carries it has the network of its own family.
        assert engine.explain("::ffff:10.1.2.3")["network"] == "::ffff:a01:0/112"
        assert set(engine.explain("127.0.0.1")["layers"].values()) == {None}
