"""Random datasets with own columns, and what each address must have by the rows of their source."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from tests.conftest import build_at

Address = IPv4Address | IPv6Address
#: Windows of addresses with a number of them; some reach from public into private space.
WINDOWS = {
    "8.8.8.0": 16,
    "9.255.255.248": 16,
    "100.127.255.248": 16,
    "2a00::": 16,
    "2001:db7:ffff:ffff:ffff:ffff:ffff:fff8": 16,
}
RECIPE = """
[dataset]
name = "own"

[columns]
site = { type = "text", private = true }
risk = "integer"
share = { type = "real", private = true }
flag = { type = "boolean", private = true }
tags = { type = "texts", private = true }

[[source]]
format = "csv"
path = "rows.csv"
"""
PRIVATE = ("site", "share", "flag", "tags")
CELLS: dict[str, tuple[str, ...]] = {
    "country_code": ("US", "DE"),
    "own.site": ("HQ", "Lab", "ä, b"),
    "own.risk": ("-5", "7", "50"),
    "own.share": ("0.5", "-1.25"),
    "own.flag": ("true", "false"),
    "own.tags": ("x", "x; y", "z"),
}


@dataclass(frozen=True)
class Row:
    """A row of the source: both ends, and a text by column; empty is unknown."""

    first: Address
    last: Address
    cells: dict[str, str]


@st.composite
def _row(draw: st.DrawFn) -> Row:
    window = draw(st.sampled_from(list(WINDOWS)))
    begin, end = sorted(draw(st.tuples(*[st.integers(0, WINDOWS[window] - 1)] * 2)))
    cells = {name: draw(st.sampled_from(("", *values))) for name, values in CELLS.items()}
    return Row(ip_address(window) + begin, ip_address(window) + end, cells)


rows = st.lists(_row(), min_size=1, max_size=8)


def build(folder: Path, listed: Sequence[Row], recipe: str = RECIPE) -> Path:
    """Build a dataset of some rows."""
    return build_at(folder, {"rows.csv": as_csv(listed)}, recipe)[0]


def as_csv(listed: Sequence[Row]) -> str:
    """Return rows as a source."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["first", "last", *listed[0].cells])
    for row in listed:
        writer.writerow([row.first, row.last, *row.cells.values()])
    return text.getvalue()


def addresses() -> Iterator[Address]:
    """Yield every address of the windows, and one before and after each."""
    for window, count in WINDOWS.items():
        for at in range(-1, count + 1):
            yield ip_address(window) + at


def is_special(address: Address) -> bool:
    """Return whether an address of the windows is private, shared or of documentation."""
    blocks = (0x0A << 24, 0xFF << 24), (100 << 24 | 64 << 16, 0xFFC00000)
    if address.version == 6:
        return int(address) >> 96 == 0x2001_0DB8
    return any(int(address) & mask == block for block, mask in blocks)


def expected(listed: Sequence[Row], address: Address) -> dict[str, Any]:
    """Return the known values of an address: its country, and own columns as ``own.NAME``."""
    holding = [
        (int(row.last) - int(row.first), -int(row.first), -number, row)
        for number, row in enumerate(listed)
        if row.first.version == address.version and int(row.first) <= int(address) <= int(row.last)
    ]
    if not holding:
        return {}
    cells = min(holding, key=lambda item: item[:3])[3].cells
    known = {name: _value(name, text) for name, text in cells.items() if text}
    if is_special(address):
        known = {name: value for name, value in known.items() if name[4:] in PRIVATE}
    return known


def _value(name: str, text: str) -> Any:
    if name == "own.tags":
        return text.split("; ")
    if name == "own.flag":
        return text == "true"
    return {"own.risk": int, "own.share": float}.get(name, str)(text)
