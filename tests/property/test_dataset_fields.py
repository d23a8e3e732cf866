"""``[dataset] fields``: the answers and explanations of all fields, without the others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import geolookup
from tests.builder.building import fails, recipe
from tests.conftest import build_at
from tests.oracle import FIELDS, LAYERS, LOCATION_FIELDS, Address, Source, carried, is_public
from tests.property.compiled import opened
from tests.property.test_resolution import known_members
from tests.range_strategies import addresses, edges, recipes
from tests.tiers import scaled

AT = 1_795_000_000


@settings(max_examples=scaled(3, 15), suppress_health_check=list(HealthCheck))
@given(
    recipes,
    st.lists(addresses, min_size=20, max_size=40),
    st.frozensets(st.sampled_from(FIELDS), min_size=1),
)
def test_other_fields_are_null(
    listed: list[Source], probes: list[Address], kept: frozenset[str]
) -> None:
    asked = [item for item in (*probes, *edges(listed)) if is_public(carried(item))]
    with opened(listed) as full:
        if not any(_layers(full.lookup(str(item))["data"], kept) for item in asked):
            return
        with opened(listed, f"fields = {sorted(kept)}") as narrow:
            for address in map(str, asked):
                answer = known_members(full.lookup(address, at=AT))
                assert known_members(narrow.lookup(address, at=AT)) == only(answer, kept)
                _compare_explanations(
                    full.explain(address),
                    narrow.explain(address),
                    narrow.lookup(address)["data"],
                    kept,
                )


def only(answer: Any, kept: frozenset[str]) -> Any:
    """The members of an answer of the oracle's form, without the fields that are not kept."""
    location = dict(answer["location"])
    currency, network = dict(answer["currency"]), dict(answer["network"])
    country = [name for name in location if name.startswith("country_")]
    if "country_code" not in kept:
        currency = dict.fromkeys(currency)
        location |= dict.fromkeys(country)
        if "continent_code" not in kept:
            location |= dict.fromkeys(("continent_code", "continent_name"))
    location |= {name: None for name in LOCATION_FIELDS if name not in kept}
    network = {name: value if name in kept else None for name, value in network.items()}
    if network.get("asn", 1) is None:
        del network["asn"]
    zone = answer["zone"] if "time_zone" in kept else None
    return {"location": location, "zone": zone, "currency": currency, "network": network}


def _layers(data: Any, kept: frozenset[str]) -> set[str]:
    """The layers with a value of a kept field."""
    values = {**data["location"], **data["network"], "time_zone": data["time"]["zone"]}
    known = {name for name in kept if values.get(name) is not None}
    if "country_code" in kept and values["continent_code"]:
        known.add("country_code")  # the continent stays with the country
    return {layer for layer, names in LAYERS.items() if known.intersection(names)}


def _compare_explanations(full: Any, narrow: Any, data: Any, kept: frozenset[str]) -> None:
    known = _layers(data, kept)
    for layer, item in full["layers"].items():
        source = narrow["layers"][layer] and narrow["layers"][layer]["source"]
        assert source == (item["source"] if layer in known else None)


def test_equal_rows_are_joined(tmp_path: Path) -> None:
    rows = "network,country_code,city_name,isp\n8.8.0.0/24,DE,A,x\n8.8.1.0/24,DE,B,x\n"
    text = recipe("path = 'a.csv'").replace("\n", "\nfields = ['country', 'network']\n", 1)
    dataset, report = build_at(tmp_path, {"a.csv": rows}, text)
    assert report.counts["locations"] == report.counts["networks"] == 1
    with geolookup.open(dataset) as engine:
        assert str(engine.answer("8.8.1.1").prefix) == "8.8.0.0/23"
        assert engine.get("8.8.1.1", "isp") == "x"
    error = fails(
        tmp_path, {"a.csv": rows}, text.replace("'country', 'network'", "'asn'"), empty=""
    )
    assert error.problem == "no answer has a value of dataset.fields"
