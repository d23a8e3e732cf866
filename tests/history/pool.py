"""Small datasets that differ in the windows of ``own_random``, compiled once in a run."""

from __future__ import annotations

import random
from functools import partial
from ipaddress import ip_address
from pathlib import Path

from tests.conftest import build_at
from tests.datasets import once
from tests.internals.dataset import read_manifest
from tests.oracle import Source
from tests.own_random import CELLS, WINDOWS, Row
from tests.range_strategies import as_csv

SIZE = 6
_COLUMNS = """
site = {{ type = "text", private = true }}
share = {{ type = "real", private = true, group = "use" }}
flag = {{ type = "boolean", private = true, group = "{group}" }}
tags = {{ type = "texts", private = true }}
"""
_NETWORKS = {"asn": ("15169", "64500"), "isp": ("A1", "Magenta"), "city_name": ("Linz", "Graz")}


def dataset(number: int) -> Path:
    """Return the dataset of a number; nobody changes it."""
    return once(f"history-{number}", partial(_build, number)) / "dataset"


def id_of(number: int) -> str:
    return read_manifest(dataset(number)).generation


def _build(number: int, folder: Path) -> None:
    folder.mkdir()
    draw = random.Random(number)
    # A column that moves between groups, and one that changes its type or is missing.
    columns = _COLUMNS.format(group=("use", "mark")[number % 2])
    columns += ("", 'risk = "integer"\n', 'risk = "text"\n')[number % 3]
    cells = {**CELLS, **_NETWORKS}
    if not number % 3:
        del cells["own.risk"]
    files: dict[str, str | bytes] = {
        name: as_csv(Source([_row(draw, cells) for _ in range(count)]))
        for name, count in (("first.csv", 3), ("second.csv", 6))
    }
    sources = "".join(f'[[source]]\nformat = "csv"\npath = "{name}"\n' for name in files)
    build_at(folder, files, f'[dataset]\nname = "pool"\n[columns]{columns}{sources}')


def _row(draw: random.Random, cells: dict[str, tuple[str, ...]]) -> Row:
    window = draw.choice(list(WINDOWS))
    begin, end = sorted(draw.choices(range(WINDOWS[window]), k=2))
    values = {name: draw.choice(("", *values)) for name, values in cells.items()}
    return Row(ip_address(window) + begin, ip_address(window) + end, values)
