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
from geolookup.dataset import layout as fmt
from tests import own_random
from tests.conftest import build_at
from tests.damage import copied, flipped, refused
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


@settings(max_examples=scaled(12, 200), deadline=None, suppress_health_check=list(HealthCheck))
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


def test_networks_at_the_ends_of_the_space(tmp_path: Path) -> None:
    networks = ["0.0.0.0/8", "240.0.0.0/4", "::/128", "::1/128", "::1.2.3.0/120", "ff00::/8"]
    networks.insert(5, "64:ff9b:1::/48")
    rows = "network,own.site\n" + "".join(f"{network},x\n" for network in networks)
    recipe = '[dataset]\nname = "x"\n[columns]\nsite = { type = "text", private = true }\n'
    source = '[[source]]\nformat = "csv"\npath = "rows.csv"\n'
    with geolookup.open(build_at(tmp_path, {"rows.csv": rows}, recipe + source)[0]) as engine:
        wanted = [ip_network(network) for network in networks if network != "::1/128"]
        wanted[wanted.index(ip_network("::/128"))] = ip_network("::/127")
        assert list(engine.prefixes("own.site=x")) == wanted
        table = engine.prefix_table(by=["own.site"])
        assert table["network"].to_pylist() == [str(network) for network in wanted]


def test_lists_whose_texts_hold_separators_differ(tmp_path: Path) -> None:
    lists = [["a", "b"], ["a\0b"], ["a b"], ["b", "a"]]
    networks = [f"8.8.{at}.0/24" for at in range(len(lists))]
    rows = "".join(
        json.dumps({"network": network, "own.tags": items}) + "\n"
        for network, items in zip(networks, lists, strict=True)
    )
    recipe = '[dataset]\nname = "x"\n[columns]\ntags = "texts"\n'
    source = '[[source]]\nformat = "jsonl"\npath = "rows.jsonl"\n'
    by: Any = "own.tags"
    with geolookup.open(build_at(tmp_path, {"rows.jsonl": rows}, recipe + source)[0]) as engine:
        assert [*engine.prefixes(by=by)] == list(zip(map(ip_network, networks), lists, strict=True))


def test_whole_numbers_beyond_2_53_are_compared_exactly(tmp_path: Path) -> None:
    most = 2**63 - 1
    rows = f"network,own.id\n8.8.8.0/24,{2**53}\n8.8.9.0/24,{2**53 + 1}\n8.8.10.0/24,{most}\n"
    recipe = '[dataset]\nname = "x"\n[columns]\nid = "integer"\n'
    source = '[[source]]\nformat = "csv"\npath = "rows.csv"\n'
    with geolookup.open(build_at(tmp_path, {"rows.csv": rows}, recipe + source)[0]) as engine:
        for where, third in (
            (f"own.id>={2**53 + 1}", [9, 10]),
            (f"own.id>{2**53}", [9, 10]),
            (f"own.id<={2**53}", [8]),
            (f"own.id<{most}", [8, 9]),
            (f"own.id>={most}", [10]),
        ):
            networks = engine.prefixes(where, aggregate=False)
            listed = [network.network_address.packed[2] for network in networks]
            assert listed == third, where


@pytest.mark.parametrize("name", [fmt.OWN, fmt.IPV4, fmt.IPV6])
def test_flipped_bits(tmp_path: Path, name: str) -> None:
    """Damaged datasets: questions to own columns are answered or refused with DatasetError."""
    dataset, outcomes = copied(own_dataset(), tmp_path / "copy"), set()
    for _ in flipped(dataset / name, [1, 3, 30] * scaled(2, 60)):
        for ask in (_prefixes, _difference):
            try:
                ask(dataset)
            except geolookup.DatasetError as error:
                outcomes.add(refused(error, str(dataset)))
    assert "refused" in outcomes


def _prefixes(dataset: Path) -> None:
    with geolookup.open(dataset) as engine:
        by = ["own", "country"]
        engine.prefix_table(["own.site_id=HQ,null", "own.tags=dns,null"], by=by).validate(full=True)


def _difference(dataset: Path) -> None:
    geolookup.diff(own_dataset(), dataset)


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("own.site", "the dataset has no column 'own.site'; did you mean 'own.site_id'?"),
        ("own.site=HQ", "the dataset has no column 'own.site'; did you mean 'own.site_id'?"),
        ("site_id=HQ", "no field 'site_id'; did you mean 'own.site_id'?"),
        ("is_vpn", "no field 'is_vpn'; did you mean 'own.is_vpn'?"),
        ("own.risk_score=high", "'high' is not a own.risk_score: its values are numbers"),
        ("own.is_vpn=1", "'1' is not a own.is_vpn: its values are true or false"),
        ("own.site_id", "a condition has a field, an operator and a value"),
        ("own=1", "own is a group; name one of its members"),
    ],
)
def test_malformed_conditions(engine: geolookup.Engine, where: str, message: str) -> None:
    with pytest.raises(ValueError, match=r"^prefixes: ") as error:
        engine.prefixes(where)
    assert message in str(error.value)


def test_a_dataset_without_own_columns_names_the_remedy(sample: geolookup.Engine) -> None:
    with pytest.raises(ValueError, match=r"no column 'own.x'; declare it in \[columns\]"):
        sample.prefixes("own.x=1")
