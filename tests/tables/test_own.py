"""Own columns in tables of every kind: each row as ``Engine.get`` has it, private addresses too."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import geolookup
from geolookup import tables
from tests import own
from tests.datasets import SMALL
from tests.internals.contract import MAX_COLUMNS
from tests.internals.kernel import kernel, state_of
from tests.internals.kernel import python as kernel_python
from tests.internals.tables import MOST_COLUMNS
from tests.tables import columns

NAMES = [f"own.{name}" for name in own.NAMES]
#: Own columns between fields of the contract.
FIELDS = ["own.site_id", "country", *NAMES[1:], "error_code"]
COLUMNS = [
    "own_site_id",
    "location_country_code",
    *(f"own_{n}" for n in own.NAMES[1:]),
    "error_code",
]
IPS = ["8.8.8.8", "8.8.8.9", None, "10.1.2.3", "x", "192.0.2.1", "::ffff:10.0.0.1", "fd00::1"]


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[geolookup.Engine]:
    path = own.add_own(SMALL, tmp_path_factory.mktemp("own") / "dataset")
    with geolookup.open(path) as result:
        yield result


@pytest.fixture(params=[kernel.State, kernel_python.State], ids=["kernel", "python"])
def state(request: pytest.FixtureRequest, engine: geolookup.Engine) -> Any:
    return request.param(state_of(engine).dataset)


def expected(engine: geolookup.Engine, addresses: Sequence[object]) -> dict[str, list[Any]]:
    rows = [(*engine.get(ip, FIELDS[:-1]), engine.lookup(ip)["error_code"]) for ip in addresses]
    return {name: [row[at] for row in rows] for at, name in enumerate(COLUMNS)}


def test_public_and_private_addresses_of_every_type(state: Any, engine: geolookup.Engine) -> None:
    """The private ones lie first, in the middle, and in a dictionary of few values."""
    numbers = [0x0A000001, 0x08080808, None, 0x0A010203]
    packed = [None if number is None else number.to_bytes(4) for number in numbers]
    sources: tuple[tuple[dict[str, pa.DataType], list[Any], list[object]], ...] = (
        (columns.TEXTS, [*IPS, "10.0.0.1", "2002:0a01:0203::1", *IPS], []),
        (columns.NUMBERS, numbers, columns.of_numbers(numbers)),
        (columns.BYTES, packed, columns.of_bytes(packed)),
    )
    rng = random.Random(1)
    for kinds, values, asked in sources:
        for name, kind in kinds.items():
            table = pa.table({"ip": columns.chunked(values, kind, rng)})
            result = tables.enrich(state, table, FIELDS).drop_columns("ip")
            result.validate(full=True)
            assert result.to_pydict() == expected(engine, asked or values), name


def test_types_and_defaults(engine: geolookup.Engine) -> None:
    schema = engine.enrich(pa.array(IPS), "own").schema
    assert schema.names == [f"own_{name}" for name in own.NAMES]
    text = pa.dictionary(pa.int32(), pa.string())
    assert schema.types == [text, pa.int64(), pa.float64(), pa.bool_(), pa.list_(pa.string())]
    assert not any("own" in name for name in engine.enrich(pa.array(IPS)).schema.names)


def test_more_columns_than_a_row_major_table_has(tmp_path: Path) -> None:
    assert MAX_COLUMNS > MOST_COLUMNS
    names = [f"column_{number}" for number in range(MAX_COLUMNS)]
    texts = "".join(f'{name} = "integer"\n' for name in names)
    (tmp_path / "a.csv").write_text(
        f"network,{','.join(names)}\n8.8.8.0/24,{','.join(map(str, range(MAX_COLUMNS)))}\n",
        encoding="utf-8",
    )
    recipe = tmp_path / "recipe.toml"
    source = '[[source]]\nformat = "csv"\npath = "a.csv"\n'
    recipe.write_text(f'[dataset]\nname = "wide"\n[columns]\n{texts}{source}', encoding="utf-8")
    geolookup.build(recipe, tmp_path / "wide")
    with geolookup.open(tmp_path / "wide") as engine:
        row = engine.enrich(pa.array(["8.8.8.8", "9.9.9.9"]), "own").to_pylist()
    assert [*row[0].values()] == [*range(MAX_COLUMNS)]
    assert {*row[1].values()} == {None}
