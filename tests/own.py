"""Datasets with own columns, written without the compiler, and the slow plain answer.

A dataset of the tests gets the columns of some networks: its intervals are cut at their bounds. The
later network decides where two overlap. Only networks of IPv4 and of IPv6 that carry none.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from tests.internals.contract import own_schema
from tests.internals.dataset import describe, intervals, layout, number_text, read, type_of
from tests.oracle import carried

#: Columns of each type; the last is not known in private space.
COLUMNS: list[dict[str, Any]] = [
    {"name": "site_id", "type": "text", "private": True},
    {"name": "risk_score", "type": "integer", "private": True},
    {"name": "share", "type": "real", "private": True},
    {"name": "is_vpn", "type": "boolean", "group": "threat", "description": "a VPN"},
    {"name": "tags", "type": "texts", "group": "threat"},
]
NAMES = [column["name"] for column in COLUMNS]


@dataclass(frozen=True)
class OwnRow:
    """A network, and what is known of it."""

    network: str
    values: Mapping[str, Any]


ROWS = [
    OwnRow("8.8.0.0/16", {"site_id": "Mountain View", "risk_score": 5}),
    OwnRow("8.8.8.0/24", {"site_id": 'dns "1"\\ é\n', "is_vpn": False, "tags": ["dns", "any ☃"]}),
    OwnRow("8.8.8.8/32", {"risk_score": -(2**63), "share": 0.5, "is_vpn": True, "tags": []}),
    OwnRow("1.1.1.0/24", {"share": -1e-7, "risk_score": 2**63 - 1}),
    OwnRow("10.0.0.0/8", {"site_id": "HQ", "risk_score": 0}),
    OwnRow("10.1.0.0/16", {"site_id": "Branch", "share": 48.0}),
    OwnRow("100.64.0.0/10", {"site_id": "CGNAT"}),
    OwnRow("192.0.2.0/24", {"site_id": "documentation"}),
    OwnRow("fd00::/8", {"site_id": "ULA", "risk_score": 1}),
    OwnRow("fd00::1:0/112", {"site_id": "ULA 1"}),
    OwnRow("2001:4860:4860::/48", {"site_id": "dns6", "tags": ["dns"]}),
]


def expected(rows: Sequence[OwnRow], ip: str) -> dict[str, Any]:
    """Return the own columns of a well-formed address, by looking at every network."""
    address = carried(ip_address(ip))
    values: Mapping[str, Any] = {}
    for row in rows:
        network = ip_network(row.network)
        if network.version == address.version and address in network:
            values = row.values
    return {name: values.get(name) for name in NAMES}


def add_own(source: Path, output: Path, rows: Sequence[OwnRow] = ROWS) -> Path:
    """Write a copy of a dataset with own columns; return it."""
    shutil.copytree(source, output)
    numbers = {"[]": 0}  # by the JSON of the values of a row
    for row in rows:
        numbers.setdefault(_key(row), len(numbers))
    for family in (4, 6):
        of_family = [row for row in rows if ip_network(row.network).version == family]
        _cut(output, family, of_family, numbers)
    distinct = {_key(row): row.values for row in rows if _key(row) != "[]"}
    _write(output / layout.OWN, _own_table([{}, *distinct.values()]))
    document = json.loads((source / layout.MANIFEST).read_text(encoding="utf-8"))
    document["columns"] = COLUMNS
    document["fields"] = sorted([*document["fields"], *(f"own.{name}" for name in NAMES)])
    document["counts"]["own"] = len(distinct)
    changed = (layout.OWN, layout.IPV4, layout.IPV4_JUMP, layout.IPV6, layout.IPV6_SPARSE_INDEX)
    files = {**document["files"], **{name: describe(output / name) for name in changed}}
    document["files"] = dict(sorted(files.items()))
    document["generation"] = hashlib.sha256(repr(document).encode()).hexdigest()
    (output / layout.MANIFEST).write_text(
        json.dumps(document, ensure_ascii=False), encoding="utf-8"
    )
    return output


def _key(row: OwnRow) -> str:
    return json.dumps(sorted(row.values.items()))


def _cut(folder: Path, family: int, rows: Sequence[OwnRow], numbers: Mapping[str, int]) -> None:
    name = {4: layout.IPV4, 6: layout.IPV6}[family]
    batch = read(folder / name)[0]
    if family == 4:
        old = batch.column("start").to_pylist()
    else:
        highs, lows = (batch.column(column).to_pylist() for column in ("start_high", "start_low"))
        old = [high << 64 | low for high, low in zip(highs, lows, strict=True)]
    networks = [(ip_network(row.network), numbers[_key(row)]) for row in rows]
    bounds = {int(end) for network, _ in networks for end in (network[0], int(network[-1]) + 1)}
    starts = sorted({*old, *bounds} - {1 << (32 if family == 4 else 128)})
    own_rows = [0] * len(starts)
    for network, number in networks:
        first = bisect_right(starts, int(network[0])) - 1
        last = bisect_right(starts, int(network[-1]))
        own_rows[first:last] = [number] * (last - first)
    at = pa.array([bisect_right(old, start) - 1 for start in starts])
    columns = {
        **_starts(family, starts),
        **{link: batch.column(link).take(at) for link in ("location", "network")},
        "own": pa.array(own_rows, pa.uint32()),
    }
    _write(folder / name, columns)
    if family == 4:
        table = intervals.jump_table(np.array(starts, np.uint32))
        _write(folder / layout.IPV4_JUMP, {"interval": pa.array(table)})
    else:
        sparse = columns["start_high"].to_pylist()[:: layout.SPARSE_STRIDE]
        _write(folder / layout.IPV6_SPARSE_INDEX, {"start_high": pa.array(sparse, pa.uint64())})


def _starts(family: int, starts: list[int]) -> dict[str, pa.Array]:
    if family == 4:
        return {"start": pa.array(starts, pa.uint32())}
    lows = pa.array([start & (1 << 64) - 1 for start in starts], pa.uint64()).dictionary_encode()
    return {
        "start_high": pa.array([start >> 64 for start in starts], pa.uint64()),
        "start_low": lows,
    }


def _own_table(rows: Sequence[Mapping[str, Any]]) -> dict[str, pa.Array]:
    columns = {}
    for field in own_schema(COLUMNS).own:
        values = pa.array([row.get(field.member) for row in rows], type_of(field))
        columns[field.column] = values.dictionary_encode() if field.type == "string" else values
    texts = pa.array(["\n".join(_json(row.get(name)) for name in NAMES) for row in rows])
    return {**columns, "json": texts}


def _json(value: Any) -> str:
    if isinstance(value, float):
        return number_text(value)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _write(path: Path, columns: Mapping[str, pa.Array]) -> None:
    batch = pa.record_batch(list(columns.values()), names=list(columns))
    with pa.OSFile(str(path), "wb") as stream, pa.ipc.new_file(stream, batch.schema) as writer:
        writer.write_batch(batch)
