"""Random datasets with own columns, and what each address must have by the rows of their source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from tests import range_strategies
from tests.conftest import build_at
from tests.oracle import Address, OwnColumn, Source, SourceRow, deciding, is_public, own_decided

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
CELLS: dict[str, tuple[str, ...]] = {
    "country_code": ("US", "DE"),
    "own.site": ("HQ", "Lab", "ä, b"),
    "own.risk": ("-5", "7", "50"),
    "own.share": ("0.5", "-1.25"),
    "own.flag": ("true", "false"),
    "own.tags": ("x", "x; y", "z"),
}


_COLUMNS = [
    OwnColumn("site", "text", private=True),
    OwnColumn("risk", "integer"),
    OwnColumn("share", "real", private=True),
    OwnColumn("flag", "boolean", private=True),
    OwnColumn("tags", "texts", private=True),
]
PRIVATE = [column.name for column in _COLUMNS if column.private]
#: A row of the source: both ends, and a text by column; empty is unknown.
Row = SourceRow


rows = st.lists(
    range_strategies.rows_within(WINDOWS, range_strategies.any_cells(CELLS)), min_size=1, max_size=8
)


def build(folder: Path, listed: Sequence[Row], recipe: str = RECIPE) -> Path:
    """Build a dataset of some rows."""
    return build_at(folder, {"rows.csv": range_strategies.as_csv(Source([*listed]))}, recipe)[0]


def addresses() -> Iterator[Address]:
    """Yield every address of the windows, and one before and after each."""
    for window, count in WINDOWS.items():
        for at in range(-1, count + 1):
            yield ip_address(window) + at


def is_special(address: Address) -> bool:
    """Return whether an address is private, shared or of documentation."""
    return not is_public(address)


def expected(listed: Sequence[Row], address: Address) -> dict[str, Any]:
    """Return the known values of an address: its country, and own columns as ``own.NAME``."""
    layers = own_decided([Source([*listed])], _COLUMNS, str(address)).values()
    known = {f"own.{name}": value for _, values in layers for name, value in values.items()}
    row = deciding([*listed], address)
    if row and row.cells["country_code"] and is_public(address):
        known["country_code"] = row.cells["country_code"]
    return known
