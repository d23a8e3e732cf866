"""Own columns in MMDB files: keys by option, private space, and every type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from ipaddress import IPv4Address
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, assume, given, settings

import geolookup
from geolookup.errors import ExportError
from tests import own_random
from tests.conftest import build_at
from tests.export.mmdb.test_mmdb import READERS
from tests.export.reading import ExpectedRecords, addresses
from tests.export.test_round_trip import columns_of
from tests.own_sources import own_dataset
from tests.skips import needs
from tests.tiers import scaled

pytestmark = needs("maxminddb")
_EVERY = 1 << 30
#: Covers special-purpose space from end to end, and the aliases.
_EVERYWHERE = """
[dataset]
name = "all"
[columns]
{} = {{ type = "{}", private = true }}
[[source]]
format = "csv"
path = "a.csv"
"""


def check(
    engine: geolookup.Engine, path: Path, keys: Mapping[str, str], names: Sequence[str] = ("C",)
) -> None:
    expected = ExpectedRecords(engine, "flat", keys=keys)
    wanted = {address: expected(address) for address in addresses(engine, _EVERY)}
    for name in names:
        get = READERS[name](path)
        for address, record in wanted.items():
            assert get(address) == record, (name, address)


def own_names(engine: geolookup.Engine) -> dict[str, str]:
    columns = [column["name"] for column in engine.metadata.columns]
    return dict(zip(columns, columns, strict=True))


@settings(max_examples=scaled(3, 10), suppress_health_check=list(HealthCheck), deadline=None)
@given(own_random.rows)
def test_any_rows(listed: list[own_random.Row]) -> None:
    assume(any(text for row in listed for text in row.cells.values()))
    with (
        TemporaryDirectory() as folder,
        geolookup.open(own_random.build(Path(folder), listed)) as engine,
    ):
        (target := Path(folder, "again")).mkdir()
        engine.export(target / "a.mmdb", columns="own")
        get = READERS["C"](target / "a.mmdb")
        for address in own_random.addresses():
            known = own_random.expected(listed, address)
            own = {key[4:]: item for key, item in known.items() if key.startswith("own.")}
            actual = get(address) or {}
            assert {key: actual[key] for key in actual if key in own_names(engine)} == own
        known_names = [path[4:] for path in engine.metadata.fields if path.startswith("own.")]
        keys = ", ".join(f'{name} = "{name}"' for name in known_names)
        source = f'[[source]]\nformat = "mmdb"\npath = "a.mmdb"\ncolumns = {{ {keys} }}\n'
        recipe = f'[dataset]\nname = "again"\n{columns_of(engine)}{source}'
        with geolookup.open(build_at(target, {}, recipe)[0]) as other:
            for address in own_random.addresses():
                assert other.own(address) == engine.own(address)


_SPECIAL = (
    *("0.0.0.0/8", "240.0.0.0/4", "8.8.8.8/32", "255.255.255.255/32", "0.0.0.0/32"),
    *("ff00::/8", "2001::/23", "2001::/32", "::1/128", "2000::/3"),
    "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/128",
)


@pytest.mark.parametrize("whole", [[], ["0.0.0.0/0", "::/0"]])
def test_special_purpose_space(tmp_path: Path, whole: list[str]) -> None:
    rows = "".join(f"{network},at {network},\n" for network in (*_SPECIAL, *whole))
    text = f"network,site,country_code\n8.0.0.0/8,,US\n{rows}"
    output, _ = build_at(tmp_path, {"a.csv": text}, _EVERYWHERE.format("site", "text"))
    with geolookup.open(output) as engine:
        engine.export(tmp_path / "a.mmdb", columns=["site"])
        check(engine, tmp_path / "a.mmdb", {"site": "site"})


def test_integers(tmp_path: Path) -> None:
    """Signed in 32 bits, unsigned in 64: what fits neither is refused."""
    for values, refused in (
        ((0, 2**63 - 1, 300), None),
        ((-(2**31), -1, 0, 5, 2**31 - 1), None),
        ((-(2**31) - 1,), -(2**31) - 1),
        ((-1, 2**31), 2**31),
    ):
        rows = "".join(f"10.0.{at}.0/24,{value},\n" for at, value in enumerate(values))
        text = f"network,country_rank,country_code\n8.0.0.0/8,,US\n{rows}"
        recipe = _EVERYWHERE.format("country_rank", "integer")
        with geolookup.open(build_at(tmp_path, {"a.csv": text}, recipe)[0]) as engine:
            if refused is not None:
                problem = f"own.country_rank: {refused} needs more than 32 bits with a sign"
                with pytest.raises(ExportError, match=f"{problem}; leave the column out"):
                    engine.export(tmp_path / "bad.mmdb", columns="own")
                continue
            engine.export(tmp_path / "a.mmdb", columns="own", force=True)
            for name in ("C", "Python"):
                get = READERS[name](tmp_path / "a.mmdb")
                numbers = [get(IPv4Address(f"10.0.{at}.9")) for at in range(len(values))]
                assert numbers == [{"country_rank": value} for value in values]
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
