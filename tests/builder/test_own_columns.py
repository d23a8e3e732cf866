"""Own columns from the files of sources to ``own.arrow``: types, layers, private space, reports."""

from __future__ import annotations

import json
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import geolookup
from geolookup.dataset import layout as fmt
from geolookup.dataset.arrow_files import read, starts_of
from geolookup.dataset.intervals import Addresses
from tests.own_sources import full_dataset, own_dataset


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


@pytest.mark.parametrize("dataset", [own_dataset, full_dataset])
def test_a_dataset_with_own_columns(dataset: Any) -> None:
    geolookup.verify(dataset(), deep=True)
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
    assert dict(zip(listed, own_at(dataset(), *listed), strict=True)) == listed


def test_whole_numbers_that_a_file_states_as_floats(tmp_path: Path) -> None:
    """JSON has one type of numbers; pandas makes floats of integers beside nulls."""
    numbers = [5, 12345678901, 1 - (1 << 53), 1 << 60, None]
    lines = [
        f'{{"network": "8.8.{at}.0/24", "id": {json.dumps(n)}}}' for at, n in enumerate(numbers)
    ]
    (tmp_path / "a.jsonl").write_text("\n".join(lines), encoding="utf-8")
    ids = pa.array([None if n is None else float(n) for n in numbers])
    table = pa.table({"network": [f"8.8.{at}.0/24" for at in range(len(numbers))], "id": ids})
    for source in (tmp_path / "a.jsonl", table):
        report = geolookup.build(
            sources=[source], columns={"id": "integer"}, output=tmp_path / "d", force=True
        )
        assert report.sources[0].nulled == {"own.id": 1}, "a float beyond 2^53 is not exact"
        addresses = (f"8.8.{at}.1" for at in range(len(numbers)))
        values = [answer.get("id") for answer in own_at(tmp_path / "d", *addresses)]
        assert values == [*numbers[:3], None, None]
