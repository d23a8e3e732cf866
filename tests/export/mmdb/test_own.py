"""Own columns in MMDB files: keys by option, private space, and every type."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings

import geolookup
from geolookup.contract.address import MAX
from geolookup.errors import ExportError
from tests import own_random
from tests.conftest import build_at
from tests.export.mmdb.test_mmdb import READERS
from tests.export.own_rows import parts
from tests.export.reading import Address, ExpectedRecords, carrying
from tests.export.test_own import columns_of
from tests.own_sources import own_dataset
from tests.skips import needs, optional
from tests.tiers import scaled

maxminddb = optional("maxminddb")
pytestmark = needs("maxminddb")
_TEREDO = 0x2001_0000
#: Covers special-purpose space from end to end, and the aliases.
_EVERYWHERE = """
[dataset]
name = "all"
[columns]
site = { type = "text", private = true }
[[source]]
format = "csv"
path = "a.csv"
"""


def own_addresses(engine: geolookup.Engine) -> Iterator[Address]:
    """Yield the ends of all ranges and their neighbours, also as addresses that carry them."""
    for family, first, last in parts(engine):
        for value in {first - 1, first, first + 1, last - 1, last, last + 1}:
            if 0 <= value <= MAX[family]:
                yield IPv4Address(value) if family == 4 else IPv6Address(value)
                if family == 4:
                    yield from carrying(value)


def record(
    engine: geolookup.Engine, contract: ExpectedRecords, address: Address, keys: dict[str, str]
) -> Any:
    """Return the record of an address: of the contract, and own columns by their keys."""
    if address.version == 6 and int(address) >> 96 == _TEREDO:
        address = IPv4Address(int(address) >> 64 & 0xFFFF_FFFF)
    elif address.version == 6 and int(address) >> 32 == 0:
        address = IPv4Address(int(address))
    known = contract(address) or {}
    for key, value in (engine.own(address) or {}).items():
        if value is not None and key in keys:
            known[keys[key]] = value
    return known or None


def check(engine: geolookup.Engine, path: Path, keys: dict[str, str]) -> None:
    contract = ExpectedRecords(engine, "flat")
    for name in ("C", "Python"):
        get = READERS[name](path)
        for address in own_addresses(engine):
            assert get(address) == record(engine, contract, address, keys), (name, address)


def names(engine: geolookup.Engine) -> dict[str, str]:
    columns = [column["name"] for column in engine.metadata.columns]
    return dict(zip(columns, columns, strict=True))


def test_every_boundary(tmp_path: Path) -> None:
    with geolookup.open(own_dataset()) as engine:
        engine.export(tmp_path / "a.mmdb", columns="own")
        check(engine, tmp_path / "a.mmdb", names(engine))
        engine.export(tmp_path / "plain.mmdb")
        check(engine, tmp_path / "plain.mmdb", {})
        engine.export(tmp_path / "site.mmdb", columns=["place = own.site_id", "risk_score"])
        check(engine, tmp_path / "site.mmdb", {"site_id": "place", "risk_score": "risk_score"})
        engine.export(
            tmp_path / "paths.mmdb", columns=["my.site=own.site_id", "my.risk=risk_score"]
        )
        get = READERS["C"](tmp_path / "paths.mmdb")
        assert get(ip_address("10.2.0.1")) == {"my": {"site": "HQ"}}
        assert get(ip_address("8.8.4.4"))["country_code"] == "US"


@settings(max_examples=scaled(3, 60), suppress_health_check=list(HealthCheck), deadline=None)
@given(own_random.rows)
def test_any_rows(listed: list[own_random.Row]) -> None:
    assume(any(text for row in listed for text in row.cells.values()))
    with (
        TemporaryDirectory() as folder,
        geolookup.open(own_random.build(Path(folder), listed)) as engine,
    ):
        (target := Path(folder, "again")).mkdir()
        engine.export(target / "a.mmdb", columns="own")
        check(engine, target / "a.mmdb", names(engine))
        get = READERS["C"](target / "a.mmdb")
        for address in own_random.addresses():
            known = own_random.expected(listed, address)
            own = {key[4:]: item for key, item in known.items() if key.startswith("own.")}
            actual = get(address) or {}
            assert {key: actual[key] for key in actual if key in names(engine)} == own
        keys = ", ".join(f'{name} = "{name}"' for name in _known(engine))
        source = f'[[source]]\nformat = "mmdb"\npath = "a.mmdb"\ncolumns = {{ {keys} }}\n'
        recipe = f'[dataset]\nname = "again"\n{columns_of(engine)}{source}'
        with geolookup.open(build_at(target, {}, recipe)[0]) as other:
            for address in own_random.addresses():
                assert other.own(address) == engine.own(address)


def _known(engine: geolookup.Engine) -> list[str]:
    """Return the own columns of which any value is known."""
    return [path[4:] for path in engine.metadata.fields if path.startswith("own.")]


@pytest.mark.parametrize(
    "rows",
    [
        "0.0.0.0/0,all4\n::/0,all6\n",
        "0.0.0.0/8,here\n240.0.0.0/4,top\nff00::/8,multicast\n",
        "::/0,all6\n8.8.8.8/32,dns\n",
        "2001::/23,ietf\n2001::/32,teredo\n::1/128,loopback\n",
        "255.255.255.255/32,broadcast\nffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/128,last\n",
        "2000::/3,global\n0.0.0.0/32,first\n",
    ],
)
def test_special_purpose_space(tmp_path: Path, rows: str) -> None:
    text = f"network,site,country_code\n8.0.0.0/8,,US\n{rows.replace(chr(10), ',' + chr(10))}"
    output, _ = build_at(tmp_path, {"a.csv": text}, _EVERYWHERE)
    with geolookup.open(output) as engine:
        engine.export(tmp_path / "a.mmdb", columns=["site"])
        check(engine, tmp_path / "a.mmdb", {"site": "site"})


def _numbers(folder: Path, *values: int) -> Path:
    folder.mkdir()
    rows = "".join(f"10.0.{at}.0/24,{value}\n" for at, value in enumerate(values))
    recipe = _EVERYWHERE.replace("site = ", "country_rank = ").replace('"text"', '"integer"')
    text = (
        f"network,country_rank,country_code\n8.0.0.0/8,,US\n{rows.replace(chr(10), ',' + chr(10))}"
    )
    return build_at(folder, {"a.csv": text}, recipe)[0]


def test_integers(tmp_path: Path) -> None:
    for at, values in enumerate([(0, 2**63 - 1, 300), (-(2**31), -1, 0, 5, 2**31 - 1)]):
        with geolookup.open(_numbers(tmp_path / f"{at}", *values)) as engine:
            engine.export(tmp_path / f"{at}.mmdb", columns="own")
            for name in READERS.keys() - {"Rust"}:
                get = READERS[name](tmp_path / f"{at}.mmdb")
                numbers = [get(IPv4Address(f"10.0.{at}.9")) for at in range(len(values))]
                assert numbers == [{"country_rank": value} for value in values]
    for number, values in enumerate([(-(2**31) - 1,), (-1, 2**31)]):
        with geolookup.open(_numbers(tmp_path / f"bad{number}", *values)) as engine:
            problem = f"own.country_rank: {values[-1]} needs more than 32 bits with a sign"
            with pytest.raises(ExportError, match=f"{problem}; leave the column out"):
                engine.export(tmp_path / "bad.mmdb", columns="own")
    assert not (tmp_path / "bad.mmdb").exists()


def test_keys_that_cannot_be(tmp_path: Path) -> None:
    cases = {
        "x=own": "'x=own' is several columns of one key; write each with its key",
        "x=own.nothing": "columns: the dataset has no column 'own.nothing'",
        "asn=own.site_id": "'asn' is a member of the schema; choose another first key",
        "asn.site=own.site_id": "'asn' is a member of the schema",
        "=own.site_id": "'' cannot be a key; write names",
        "a..b=site_id": "'a..b' cannot be a key",
        "a.0=site_id": "'a.0' cannot be a key",
        "a=site_id,a=risk_score": "two own columns have the key 'a'",
        "a=site_id,a.b=risk_score": "two own columns have the key 'a.b'",
        "own,site_id": "two own columns have the key 'site_id'",
    }
    with geolookup.open(own_dataset()) as engine:
        for keys, problem in cases.items():
            with pytest.raises(ExportError, match=problem.replace(".", r"\.")):
                engine.export(tmp_path / "a.mmdb", columns=keys.split(","))
        with pytest.raises(ExportError, match=r"the schema flat has no own\.site_id; name it by"):
            engine.export(tmp_path / "a.mmdb", fields=["own.site_id"])
        assert list(tmp_path.iterdir()) == []
