"""Prefixes by own columns are the addresses whose rows meet the conditions, private ones too."""

from __future__ import annotations

import json
from collections.abc import Callable
from ipaddress import ip_network
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import geolookup
from tests import own_random
from tests.conftest import build_at
from tests.own_sources import own_dataset
from tests.prefixes.brute_force import collapsed
from tests.tiers import scaled

Known = dict[str, Any]
#: Conditions on own columns and on a contract's field, each with its plain meaning.
CONDITIONS: dict[str, Callable[[Known], bool]] = {
    "own.flag": lambda known: known.get("own.flag") is True,
    "own.flag=false": lambda known: known.get("own.flag") is False,
    "own.flag=null": lambda known: "own.flag" not in known,
    "own.site=HQ,Lab": lambda known: known.get("own.site") in ("HQ", "Lab"),
    'own.site="ä, b"': lambda known: known.get("own.site") == "ä, b",
    "own.site=null": lambda known: "own.site" not in known,
    "own.site^=H,ä": lambda known: known.get("own.site", "")[:1] in ("H", "ä"),
    "own.risk>=7": lambda known: known.get("own.risk", -99) >= 7,
    "own.risk<0": lambda known: known.get("own.risk", 99) < 0,
    "own.risk=7,null": lambda known: known.get("own.risk", 7) == 7,
    "own.share>0.25": lambda known: known.get("own.share", 0.0) > 0.25,
    "own.tags=x": lambda known: "x" in known.get("own.tags", ()),
    "own.tags^=y,z": lambda known: bool({"y", "z"} & {*known.get("own.tags", ())}),
    "country=US": lambda known: known.get("country_code") == "US",
    "country=null": lambda known: "country_code" not in known,
}


@settings(max_examples=scaled(4, 30), deadline=None, suppress_health_check=list(HealthCheck))
@given(own_random.rows, st.lists(st.sampled_from(list(CONDITIONS)), min_size=1, max_size=3))
def test_prefixes_are_the_addresses_that_meet_the_conditions(
    rows: list[own_random.Row], where: list[str]
) -> None:
    with TemporaryDirectory() as folder:
        output = own_random.build(Path(folder), rows)
        with geolookup.open(output) as engine:
            prefixes = list(engine.prefixes(where))
            single = list(engine.prefixes(where, aggregate=False))
            valued = list(engine.prefixes(where, by=["country", "own.site", "own"]))
    names_own = any(condition.startswith("own.") for condition in where)
    assert prefixes == collapsed(single)
    for address in own_random.addresses():
        known = own_random.expected(rows, address)
        # Without an own column a question is about the fields of the contract.
        counts = bool(known) if names_own else "country_code" in known
        meets = counts and all(CONDITIONS[condition](known) for condition in where)
        assert any(address in prefix for prefix in prefixes) == meets, (address, where)
        values = [value for prefix, value in valued if address in prefix]
        # With ``by="own"`` the question names own columns.
        meets = bool(known) and all(CONDITIONS[condition](known) for condition in where)
        own = {name: known.get(f"own.{name}") for name in ("site", "risk", "share", "flag", "tags")}
        assert values == [(known.get("country_code"), known.get("own.site"), own)] * meets


@pytest.fixture(scope="module")
def engine() -> Any:
    with geolookup.open(own_dataset()) as opened:
        yield opened


def test_tables_lists_and_values(engine: geolookup.Engine) -> None:
    assert [*map(str, engine.prefixes("own.site_id=HQ"))][:2] == ["10.0.0.0/16", "10.2.0.0/15"]
    table = engine.prefix_table("own.site_id^=l", by=["own.site_id"], within="192.168.0.0/16")
    assert table.to_pylist() == [{"network": "192.168.0.0/16", "own_site_id": "lab"}]
    by: Any = "own.tags"
    assert dict(engine.prefixes("own.tags=internal", by=by, within="10.0.0.0/16")) == {
        ip_network("10.0.0.0/16"): ["internal", "a;b"]
    }
    # A Boolean field of the contract is a condition by itself, too.
    assert [*engine.prefixes("country_is_eu")] == [*engine.prefixes("country_is_eu=true")]


_RECIPE = """[dataset]
name = "x"
[columns]
site = { type = "text", private = true }
id = "integer"
tags = "texts"
[[source]]
format = "jsonl"
path = "rows.jsonl"
"""
_ENDS = (
    *("0.0.0.0/8", "240.0.0.0/4", "::/128", "::1/128", "::102:300/120", "64:ff9b:1::/48"),
    "ff00::/8",
)
#: Lists whose texts hold separators, and numbers beyond 2^53, by network.
_VALUES: dict[str, tuple[list[str], int]] = {
    "8.8.8.0/24": (["a", "b"], 2**53),
    "8.8.9.0/24": (["a,b"], 2**53 + 1),
    "8.8.10.0/24": (["a b"], 2**63 - 1),
}


def test_ends_of_the_space_separators_and_large_numbers(tmp_path: Path) -> None:
    rows = [{"network": network, "own.site": "x"} for network in _ENDS]
    for network, (tags, number) in _VALUES.items():
        rows.append({"network": network, "own.tags": tags, "own.id": str(number)})  # type: ignore[dict-item]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    with geolookup.open(build_at(tmp_path, {"rows.jsonl": text}, _RECIPE)[0]) as engine:
        wanted = [network.replace("::/128", "::/127") for network in _ENDS if network != "::1/128"]
        assert [*map(str, engine.prefixes("own.site=x"))] == wanted
        by: Any = "own.tags"
        assert [*engine.prefixes({"not": {"own.tags": None}}, by=by)] == [
            (ip_network(network), tags) for network, (tags, _) in _VALUES.items()
        ]
        for where, third in (
            (f"own.id>={2**53 + 1}", [9, 10]),
            (f"own.id>{2**53}", [9, 10]),
            (f"own.id<={2**53}", [8]),
            (f"own.id<{2**63 - 1}", [8, 9]),
            (f"own.id>={2**63 - 1}", [10]),
        ):
            networks = engine.prefixes(where, aggregate=False)
            assert [network.network_address.packed[2] for network in networks] == third, where
