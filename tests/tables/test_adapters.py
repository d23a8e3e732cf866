"""Every adapter has the columns of single lookups, for every case of the contract."""

from __future__ import annotations

from functools import cache

import pytest

import geolookup
from tests.skips import needs
from tests.tables import columns
from tests.tables.adapters import WAYS, Case, Rows, cases, expected, own_dataset, past_store


@cache
def asked(name: str) -> tuple[geolookup.Engine, Case, Rows]:
    """Return the engine of a case, the case, and what must come out."""
    case = cases()[name]()
    engine = geolookup.open(past_store() if "as_of" in case.options else own_dataset())
    return engine, case, expected(engine, case)


@pytest.mark.parametrize(
    ("way", "name"),
    [
        pytest.param(way, name, marks=needs(*packages))
        for way, (_, packages, skipped) in WAYS.items()
        for name in cases()
        if name not in skipped
    ],
)
def test_each_way_has_the_columns_of_lookups(way: str, name: str) -> None:
    engine, case, wanted = asked(name)
    made = WAYS[way][0](engine, case)
    assert made == wanted
    assert [*made] == [*wanted]
    if way != "command":  # JSON knows no difference of 1.0 and 1
        columns.assert_equal(made, wanted)
