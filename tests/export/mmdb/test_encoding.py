"""Values of the data section, at each size at which their form changes, read by maxminddb."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from geolookup.export.mmdb.encoding import ENCODERS, encoded, pointers
from tests.skips import needs, optional

decoder = optional("maxminddb.decoder")
pytestmark = needs("maxminddb")


def decoded(data: bytes) -> Any:
    value, end = decoder.Decoder(data, 0).decode(0)
    assert end == len(data)
    return value


def test_columns() -> None:
    columns: list[tuple[str, list[Any]]] = [
        ("string", ["x" * size for size in (1, 28, 29, 30, 284, 285, 286, 65_820, 65_821)]),
        ("string", ["Ærø"]),
        ("double", [0.0, -0.0, 1.5, -180.0, 1e-300, 37.4229]),
        ("uint32", [1, 255, 256, 65_535, 65_536, (1 << 24) - 1, 1 << 24, (1 << 32) - 1]),
        ("int64", [0, 1, 255, 256, (1 << 32) - 1, 1 << 32, (1 << 63) - 1]),
        ("bool", [True, False]),
        ("list<item: string>", [["en"], ["en", "de-CH", "x" * 40]]),
    ]
    assert {kind for kind, _ in columns} == {*ENCODERS}
    for kind, values in columns:
        types = {"list<item: string>": pa.list_(pa.string())}
        column = pa.array(values, types.get(kind) or pa.type_for_alias(kind))
        found = [decoded(each) for each in ENCODERS[kind](column).to_pylist()]
        assert found == values
        assert ENCODERS[kind](column[:0]).to_pylist() == []


def test_maps_and_lists() -> None:
    for size in (0, 28, 29, 284, 285, 300):
        members = {f"k{at}": "x" for at in range(size)}
        assert decoded(encoded(members)) == members
        assert decoded(encoded(["x"] * size)) == ["x"] * size


def test_pointers() -> None:
    for position, size in (
        *((0, 2), (2_047, 2), (2_048, 3), (526_335, 3), (526_336, 4), (134_744_063, 4)),
        *((134_744_064, 5), ((1 << 32) - 1, 5)),
    ):
        (found,) = pointers(np.array([position])).to_pylist()
        assert len(found) == size
        reader = decoder.Decoder(found, 0, pointer_test=True)
        assert reader.decode(0) == (position, size)
