"""A value has one meaning in every format."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.builder.sources.formats.mmdb_writing import mmdb
from tests.builder.sources.formats.test_generic_typed import (
    Record,
    as_csv,
    as_json,
    as_parquet,
)
from tests.builder.sources.readings import Read, one

COLUMNS = '[columns]\nrank = "integer"\nvip = "boolean"\n'
#: Cells as numbers or texts, and what they mean; None: invalid.
CELLS: dict[str, dict[Any, object]] = {
    "asn": {15169.0: 15169, "15169.0": 15169, "AS1.10": 65546, "AS1.0": None, 15169.5: None},
    "rank": {"+5.0": 5, "1e1": 10, -3.0: -3, 1e10: 10**10, 5.5: None, "x": None, 2.0**60: None},
    "vip": {1.0: True, "0.0": False, "1": True, "YES": True, "No": False, "y": None, 2.0: None},
    "postal_code": {8064.0: "8064", "8064.0": "8064", "0123": "0123"},
}


def as_mmdb(records: list[Record]) -> bytes:
    return mmdb({row.pop("network"): row for row in records})


FILES: dict[str, tuple[str, Callable[[list[Record]], str | bytes]]] = {
    "a.csv": ("csv", as_csv),
    "a.jsonl": ("jsonl", as_json),
    "a.parquet": ("parquet", as_parquet),
    "a.mmdb": ("mmdb", as_mmdb),
}


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("field", CELLS)
def test_whole_numbers_in_every_format(read: Read, file: str, field: str) -> None:
    kind, write = FILES[file]
    for kinds in (float, str):  # a column of Parquet has one type
        cells = {cell: value for cell, value in CELLS[field].items() if isinstance(cell, kinds)}
        records = [{"network": f"8.8.{at}.0/24", field: cell} for at, cell in enumerate(cells)]
        mapped = f'columns = {{ {field} = "{field}" }}' if kind == "mmdb" else ""
        reading = read({file: write(records)}, COLUMNS + one(kind, file, mapped))
        name = f"own.{field}" if field in COLUMNS else field
        values = reading.values(name, *(f"8.8.{at}.1" for at in range(len(cells))))
        assert values == [*cells.values()]
        assert reading.source.stated == {name: len(cells)}
        assert reading.source.nulled.total() == [*cells.values()].count(None)


def test_bounds_that_are_whole_floats(read: Read) -> None:
    csv = "first,last,isp\n134744064.0,134744319.0,x\n134744320.5,134744321.0,y\n"
    reading = read({"a.csv": csv}, one("csv", "a.csv"))
    assert reading.stated("8.8.8.0", "8.8.8.255") == [{"isp": "x"}] * 2
    assert reading.source.rejected == {"not an address": 1}


REGIONS: dict[tuple[str, str], str | None] = {
    ("DE", "DE-BE"): "BE",
    ("DE", "de-be"): "BE",
    ("DE", "BE"): "BE",
    ("DE", "FR-75"): None,
    ("DE", "Berlin"): None,
    ("UK", "UK-ENG"): "ENG",
    ("GB", "UK-ENG"): "ENG",
    ("", "DE-BE"): None,
    ("", "BE"): "BE",
    ("GR", "ESYE31"): "ESYE31",
}


@pytest.mark.parametrize("kind", ["csv", "geofeed"])
def test_codes_of_regions(read: Read, kind: str) -> None:
    rows = [f"8.8.{at}.0/24,{','.join(pair)},,\n" for at, pair in enumerate(REGIONS)]
    header = "network,country_code,region_code,city_name,postal_code\n" if kind == "csv" else ""
    reading = read({"a.csv": header + "".join(rows)}, one(kind, "a.csv"))
    codes = reading.values("region_code", *(f"8.8.{at}.1" for at in range(len(rows))))
    assert codes == [*REGIONS.values()]
    assert reading.source.nulled == {"region_code": codes.count(None)}
    assert reading.source.stated["region_code"] == len(rows)


def test_control_characters_in_lists(read: Read) -> None:
    cells = {'["a\\u0000"]': None, r'["a\\u0000"]': [r"a\u0000"], "a\1;b": None, "a;b": ["a", "b"]}
    rows = [
        f'8.8.{at}.0/24,"{cell}"\n'.replace('["', '[""').replace('"]', '""]')
        for at, cell in enumerate(cells)
    ]
    recipe = '[columns]\ntags = "texts"\n' + one("csv", "a.csv")
    reading = read({"a.csv": "network,tags\n" + "".join(rows)}, recipe)
    lists = reading.values("own.tags", *(f"8.8.{at}.1" for at in range(len(cells))))
    assert [json.loads(text) if text else None for text in lists] == [*cells.values()]
