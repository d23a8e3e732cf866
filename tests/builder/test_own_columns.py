"""Own columns from the files of sources to ``own.arrow``: types, layers, private space, reports."""

from __future__ import annotations

import json
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as papq

import geolookup
from tests.conftest import build_at
from tests.internals.dataset import Addresses, read, starts_of
from tests.internals.dataset import layout as fmt
from tests.own_sources import own_dataset


def own_at(dataset: Path, *addresses: str) -> list[dict[str, Any]]:
    """The known own columns of addresses that carry no other, read from the files."""
    rows = read(dataset / fmt.OWN)[0].drop_columns(["json", fmt.CHECKSUMS]).to_pylist()
    rows_at = []
    for address in map(ip_address, addresses):
        batch = read(dataset / (fmt.IPV4 if address.version == 4 else fmt.IPV6))[0]
        value = Addresses.of(address.version, [int(address)])
        at = int(starts_of(batch).search(value)[0]) - 1
        values = rows[batch.column("own")[at].as_py()]
        rows_at.append({name: value for name, value in values.items() if value is not None})
    return rows_at


def test_a_dataset_with_own_columns() -> None:
    geolookup.verify(own_dataset(), deep=True)
    listed = {
        "8.8.8.9": {
            "site_id": "Mountain View",
            "risk_score": 10,
            "tags": ["dns", "any"],
            "share": 0.5,
            "is_vpn": True,
        },
        "8.8.8.8": {"site_id": 'the "1" site', "tags": ["vpn"], "share": 0.5, "is_vpn": True},
        "8.1.1.1": {"share": 1e-7},
        "9.9.9.9": {"is_vpn": False, "is_tor": True, "risk_score": 99},
        "10.0.0.1": {"site_id": "HQ", "tags": ["internal", "a;b"]},
        "10.1.0.1": {"site_id": "Branch"},
        "100.64.0.1": {"site_id": "CGNAT"},
        "172.16.0.1": {"site_id": "mapped"},
        "192.0.2.1": {"site_id": "documentation"},
        "192.168.0.1": {"site_id": "lab"},
        "11.0.0.1": {},
        "fd00::1": {"site_id": "ULA", "tags": ["v6"]},
        "2001:4860:4860::8888": {"site_id": "dns6", "tags": ["dns"]},
    }
    assert dict(zip(listed, own_at(own_dataset(), *listed), strict=True)) == listed


def test_whole_numbers_that_a_file_states_as_floats(tmp_path: Path) -> None:
    """JSON has one type of numbers; pandas makes floats of integers beside nulls."""
    numbers = [5, 12345678901, 1 - (1 << 53), 1 << 60, None]
    lines = [
        f'{{"network": "8.8.{at}.0/24", "id": {json.dumps(n)}}}' for at, n in enumerate(numbers)
    ]
    (tmp_path / "a.jsonl").write_text("\n".join(lines), encoding="utf-8")
    ids = pa.array([None if n is None else float(n) for n in numbers])
    table = pa.table({"network": [f"8.8.{at}.0/24" for at in range(len(numbers))], "id": ids})
    exact = table.set_column(1, "id", pa.array(numbers))
    papq.write_table(exact, tmp_path / "a.parquet")
    for source, known in (
        (tmp_path / "a.jsonl", [*numbers[:3], None, None]),
        (table, [*numbers[:3], None, None]),
        (tmp_path / "a.parquet", numbers),
    ):
        report = geolookup.build(
            sources=[source],
            columns={"id": "integer"},
            output=tmp_path / "d",
            force=True,
            max_nulled=2,
        )
        nulled = known.count(None) - 1
        assert report.sources[0].nulled.total() == nulled, "a float beyond 2^53 is not exact"
        addresses = (f"8.8.{at}.1" for at in range(len(numbers)))
        assert [answer.get("id") for answer in own_at(tmp_path / "d", *addresses)] == known


def built(folder: Path, columns: str, files: dict[str, str | bytes], *sources: str) -> Any:
    """The dataset and the report of sources of one recipe."""
    tables = "".join(f"[[source]]\n{source}\n" for source in sources)
    return build_at(folder, files, f'[dataset]\nname = "own"\n[columns]\n{columns}\n{tables}')


def test_the_report_counts_rows_in_special_purpose_space(tmp_path: Path) -> None:
    columns = 'site = { type = "text", private = true }\nrisk = "integer"'
    files: dict[str, str | bytes] = {
        "a.csv": "network,site,risk\n10.0.0.0/31,a,1\n8.8.8.0/24,b,2\n",
        "b.csv": "network,site\n10.1.0.0/32,b\n",
        "c.csv": "network,risk\n10.2.0.0/32,3\n8.8.4.0/24,4\n",
    }
    sources = (f'format = "csv"\npath = "{name}"' for name in files)
    _, report = built(tmp_path, columns, files, *sources)
    lines = [
        [line for line in source.lines() if " in special" in line] for source in report.sources
    ]
    kept = "addresses in special-purpose space, kept for own.site"
    assert lines == [
        [
            "  clipped     1 row, 2 addresses in special-purpose space",
            f"  private     1 row, 2 {kept}",
        ],
        ["  private     1 row, 1 address in special-purpose space, kept for own.site"],
        ["  clipped     1 row, 1 address in special-purpose space"],
    ]
    assert [source.used for source in report.sources] == [2, 1, 1]
    assert report.coverage["own.site"] == {"ipv4": 259, "ipv6": 0}
