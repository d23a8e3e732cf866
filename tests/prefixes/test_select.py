"""Prefixes by answer are the same as by a plain walk over all networks."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import geolookup
from tests.conftest import build_at
from tests.internals.contract import STORED, resolve_field, value_in
from tests.internals.kernel import state_of
from tests.internals.prefixes import conditions_of
from tests.internals.prefixes import lists_module as lists
from tests.internals.prefixes import meeting as rows_meeting
from tests.internals.tables import row_tables
from tests.oracle import Source
from tests.prefixes.brute_force import Network, collapsed, meeting, value
from tests.range_strategies import as_csv, recipe, recipes
from tests.tiers import scaled
from tests.walk import Walked, walk

Listed = list[Walked]
_TEXTS = (
    *("location.country_code", "location.city_name", "location.continent_code"),
    *("location.country_neighbors", "currency.code", "network.organization", "network.isp"),
)
#: Codes that no network of a test has.
_ABSENT = {
    **dict.fromkeys(("location.country_code", "location.country_neighbors"), "AQ"),
    "location.continent_code": "AN",
    "currency.code": "XXX",
}
_NUMBERS = ("network.asn", "location.latitude", "location.country_population")
_SIGNS = (">=", "<=", ">", "<")
_PLACES: list[tuple[float, ...]] = [
    *[(37.4, -122.1, 50.0), (0.0, 9.25, 200.0), (-27.5, 153.0, 0.0), (1.5, 0.0, 20_000.0)],
    *[(-90.0, -180.0, 90.0, 180.0), (30.0, -130.0, 50.0, -60.0), (-40.0, 150.0, 10.0, -150.0)],
]


@st.composite
def conditions(draw: st.DrawFn, listed: Listed) -> dict[str, Any]:
    """Return one to three conditions; most are met by a network of the dataset."""
    return dict(draw(st.lists(_condition(listed), min_size=1, max_size=3)))


@st.composite
def _condition(draw: st.DrawFn, listed: Listed) -> tuple[str, Any]:
    kind = draw(st.sampled_from(("value", "values", "begin", "number", "place")))
    record = draw(st.sampled_from([record for _, record in listed])) if listed else None
    if kind == "place":
        return "location~", draw(st.sampled_from(_PLACES))
    if kind == "number":
        path = draw(st.sampled_from(_NUMBERS))
        bound = (value(record, path) if record else None) or 1
        sign = draw(st.sampled_from(_SIGNS))
        field = resolve_field(path, STORED, "test")
        # No number is beyond the limits of its field.
        beyond = (sign == ">" and bound >= field.most) or (sign == "<" and bound <= field.least)
        return path + sign + "=" * beyond, bound
    path = draw(st.sampled_from(_TEXTS))
    known = value(record, path) if record else None
    text = known[0] if isinstance(known, list) and known else known or _ABSENT.get(path, "X")
    if kind == "begin":
        return f"{path}^=", text[:1]
    return path, [text, None] if kind == "values" and not isinstance(known, list) else text


@pytest.fixture(scope="module")
def walked(sample: geolookup.Engine) -> Listed:
    return list(walk(sample))


@settings(max_examples=scaled(3, 20), suppress_health_check=list(HealthCheck))
@given(st.data())
def test_prefixes_are_the_fewest_of_what_meets_the_conditions(
    sample: geolookup.Engine, walked: Listed, data: st.DataObject
) -> None:
    check(sample, walked, data)


def check(engine: geolookup.Engine, walked: Listed, data: st.DataObject) -> None:
    where = data.draw(conditions(walked))
    if data.draw(st.booleans()):
        where["not"] = data.draw(conditions(walked))
    family: Any = data.draw(st.sampled_from((None, 4, 6)))
    expected = [item for item in meeting(walked, where) if family in (None, item.version)]
    assert list(engine.prefixes(where, family=family, aggregate=False)) == expected
    assert list(engine.prefixes(where, family=family)) == collapsed(expected)


@pytest.mark.long
@settings(max_examples=8, suppress_health_check=list(HealthCheck))
@given(recipes, st.data())
def test_random_datasets(listed: list[Source], data: st.DataObject) -> None:
    files: dict[str, str | bytes] = {f"{n}.csv": as_csv(item) for n, item in enumerate(listed)}
    with TemporaryDirectory() as folder:
        output, _ = build_at(Path(folder), files, recipe(listed))
        with geolookup.open(output) as engine:
            walked = list(walk(engine))
            assert list(engine.prefixes({}, aggregate=False)) == [network for network, _ in walked]
            check(engine, walked, data)
            check_values(engine, walked)


def check_values(engine: geolookup.Engine, walked: Listed) -> None:
    """The prefixes of each value are the fewest of it, and together they are all."""
    for path in ("network.asn", "location.city_name"):
        table = engine.prefix_table(by=path)
        by_value: dict[Any, list[str]] = {}
        for row in table.to_pylist():
            by_value.setdefault(row[path.replace(".", "_")], []).append(row["network"])
        expected: dict[Any, list[Network]] = {}
        for network, record in walked:
            expected.setdefault(value(record, path), []).append(network)
        assert by_value == {
            item: [str(network) for network in collapsed(networks)]
            for item, networks in expected.items()
        }


def test_values_have_the_shape_that_get_gives_them(
    sample: geolookup.Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lists, "BATCH", 100)
    within = "8.0.0.0/8"
    networks = list(sample.prefixes(within=within, aggregate=False))
    by: Any
    for by in (
        *("asn", "city", "time.zone", "lat", "country_neighbors", "country_is_eu"),
        *("network", "location", ["asn"], ("country", "network"), ["currency", "asn"], []),
    ):
        listed = list(sample.prefixes(by=by, within=within, aggregate=False))
        assert [network for network, _ in listed] == networks
        for network, values in listed:
            data: Any = sample.lookup(network[0])["data"]
            expected = _values(data, by)
            assert values == expected, by
            if isinstance(values, dict):
                assert list(values) == list(expected), by
    (zones,) = {tuple(item) for _, item in sample.prefixes(by="time", within=within)}
    assert zones == ("zone",)


def _values(data: dict[str, Any], by: Any) -> Any:
    if not isinstance(by, str):
        return tuple(_values(data, name) for name in by)
    if by in data:
        return data[by]
    field = resolve_field(by, STORED, "test")
    return value_in(data, field)


def test_errors_are_raised_by_the_call(sample: geolookup.Engine) -> None:
    assert list(sample.prefixes({"network.asn": []})) == []  # nothing meets it: no error
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"where": "nonsense"}, "prefixes: a condition has a field"),
        ({"where": {}, "within": "8.8.8.8/8"}, "prefixes: within must be a network"),
        ({"where": {}, "family": 5}, "prefixes: family must be 4 or 6"),
    ]
    for arguments, message in wrong:
        with pytest.raises(ValueError, match=message):
            sample.prefixes(**arguments)
    by: Any
    for by in ([5], 5, b"asn", list):
        with pytest.raises(ValueError, match="prefix_table: a field is a text"):
            sample.prefix_table(by=by)
    engine = geolookup.open(sample.path)
    engine.close()
    with pytest.raises(geolookup.GeoLookupError, match="the engine is closed"):
        engine.prefixes({})


def test_rows_of_nothing_known_meet_what_asks_for_it(sample: geolookup.Engine) -> None:
    """Row 0 of both tables is for an address about which nothing is known."""
    tables = row_tables(state_of(sample).dataset)
    cases: list[tuple[Any, set[bool]]] = [
        (["country=null", "asn=null"], {True}),
        (["country_population>=0", {"not": {"asn": None}}], {False}),
    ]
    for where, expected in cases:
        masks = rows_meeting(tables, conditions_of(where, "prefixes"))
        assert {bool(marks[0]) for marks in masks.values()} == expected
