"""Datasets with own columns, and the slow plain answer.

A dataset of the tests gets the columns of some networks. The later network decides where two
overlap, which is the smaller one.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import geolookup
from tests.oracle import carried

#: Columns of each type; the last is not known in private space.
COLUMNS: dict[str, dict[str, Any]] = {
    "site_id": {"type": "text", "private": True},
    "risk_score": {"type": "integer", "private": True},
    "share": {"type": "real", "private": True},
    "is_vpn": {"type": "boolean", "group": "threat", "description": "a VPN"},
    "tags": {"type": "texts", "group": "threat"},
}
NAMES = [*COLUMNS]


@dataclass(frozen=True)
class OwnRow:
    """A network, and what is known of it."""

    network: str
    values: Mapping[str, Any]


ROWS = [
    OwnRow("8.8.0.0/16", {"site_id": "Mountain View", "risk_score": 5}),
    OwnRow("8.8.8.0/24", {"site_id": 'dns\n"1"\\ é', "is_vpn": False, "tags": ["dns", "any ☃"]}),
    OwnRow("8.8.8.8/32", {"risk_score": -(2**63), "share": 0.5, "is_vpn": True}),
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


def add_own(source: Path, output: Path) -> Path:
    """Compile a copy of a dataset with own columns; return it."""
    with TemporaryDirectory() as folder:
        rows = Path(folder, "own.csv")
        with rows.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream)
            writer.writerow(["network", *NAMES])
            for row in ROWS:
                cells = (row.values.get(name, "") for name in NAMES)
                writer.writerow([row.network, *map(_cell, cells)])
        sources = [rows, {"path": str(source)}]
        geolookup.build(sources=sources, output=output, columns=COLUMNS)
    return output


def _cell(value: object) -> object:
    """Return a value as text: lists as JSON, Booleans as words."""
    return json.dumps(value) if isinstance(value, list | bool) else value
