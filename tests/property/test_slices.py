"""A part of a dataset, and ``[dataset] fields``, against brute force.

Inside all is the same, outside and of other fields all is unknown.
"""

from __future__ import annotations

from ipaddress import ip_network
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import geolookup
from geolookup.errors import BuildError
from tests.builder.building import fails, recipe
from tests.conftest import build_at
from tests.internals.builder import Options, compile_recipe, slice_recipe
from tests.internals.progress import Progress
from tests.oracle import (
    FIELDS,
    LAYERS,
    LOCATION_FIELDS,
    Address,
    OwnColumn,
    Restriction,
    Source,
    carried,
    is_public,
)
from tests.prefixes.brute_force import meets
from tests.property.compiled import built, opened
from tests.property.test_resolution import known_members
from tests.range_strategies import addresses, edges, own_recipes, recipes, restrictions, source_keys
from tests.tiers import scaled


@settings(max_examples=scaled(3, 15), suppress_health_check=list(HealthCheck))
@given(
    recipes,
    restrictions(None),
    st.none() | st.frozensets(st.sampled_from(FIELDS), min_size=1),
    st.lists(addresses, min_size=20, max_size=40),
)
def test_a_part_equals_brute_force(
    listed: list[Source],
    kept: Restriction,
    fields: frozenset[str] | None,
    probes: list[Address],
) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        whole = built(folder / "whole", listed)
        _slice(folder, kept, fields)
        with geolookup.open(whole) as full, geolookup.open(folder / "part") as part:
            for address in {*probes, *edges(listed)}:
                _compare(full, part, address, kept, fields or frozenset(FIELDS))


@settings(max_examples=scaled(3, 15), suppress_health_check=list(HealthCheck))
@given(own_recipes(), restrictions(frozenset()), st.data())
def test_own_columns_of_a_part_equal_brute_force(
    drawn: tuple[list[OwnColumn], list[Source]], kept: Restriction, data: st.DataObject
) -> None:
    """In special-purpose space too."""
    columns, listed = drawn
    names = [f"own.{column.name}" for column in columns]
    unwanted = data.draw(st.sampled_from(["", "location.country_code", *names]))
    fields = data.draw(st.none() | st.lists(st.sampled_from(names), min_size=1, unique=True))
    part: dict[str, Any] = {
        "unwanted": (f"{unwanted}=null",) if unwanted else (),
        "within": kept.within or (),
        "families": kept.families,
        "fields": fields or (),
    }
    with TemporaryDirectory() as name:
        whole, output = built(Path(name) / "whole", listed, columns=columns), Path(name) / "part"
        with geolookup.open(whole) as full:
            expected = {
                address: _own(full, address, kept, unwanted, fields or names)
                for address in edges(listed)
            }
        try:
            plan = slice_recipe(str(whole), "part", **part)
            compile_recipe(plan, output, Options(), Progress(silent=True))
        except BuildError:  # nothing is left
            assert not any(value for own in expected.values() for value in own.values())
            return
        with geolookup.open(output) as engine:
            for address, own in expected.items():
                assert engine.own(str(address)) == own, address


def _own(
    full: geolookup.Engine, address: Address, kept: Restriction, unwanted: str, fields: list[str]
) -> dict[str, Any]:
    """The own columns of an address in the part, by brute force."""
    own = full.own(str(address)) or {}
    country = full.get(str(address), "location.country_code", default=None)
    record = {"location": {"country_code": country}, "own": own}
    is_met = not unwanted or not meets(record, {unwanted: None})
    inside = is_met and _is_within(kept, carried(address))
    return {
        name: value if inside and f"own.{name}" in fields else None for name, value in own.items()
    }


def _slice(folder: Path, kept: Restriction, fields: frozenset[str] | None) -> None:
    text = "[dataset]\nname = 'part'\n" + (f"fields = {sorted(fields)}\n" if fields else "")
    text += f"[[source]]\nformat = 'dataset'\npath = 'whole/dataset'\n{source_keys(kept)}"
    text += "empty = 'ok'\n"
    (folder / "part.toml").write_text(text, encoding="utf-8")
    geolookup.build(folder / "part.toml", folder / "part")


def _compare(
    full: geolookup.Engine,
    part: geolookup.Engine,
    address: Address,
    kept: Restriction,
    fields: frozenset[str],
) -> None:
    text = str(address)
    answer, expected = (known_members(engine.lookup(text, at=AT)) for engine in (part, full))
    if not is_public(carried(address)):
        assert answer is None
    elif _keeps(kept, carried(address), expected):
        assert answer == only(expected, fields), text
        known = _layers(part.lookup(text)["data"], fields)
        of_full = full.explain(text)["layers"]
        for layer, item in part.explain(text)["layers"].items():
            assert (item is not None) == (layer in known)
            assert all(item[name] == of_full[layer][name] for name in ("source", "date") if item)
    else:
        assert answer == only(expected, frozenset()), text
        assert not any(part.explain(text)["layers"].values())


def _keeps(kept: Restriction, address: Address, answer: Any) -> bool:
    record = {**answer, "time": {"zone": answer["zone"]}}
    return _is_within(kept, address) and meets(record, kept.only)


def _is_within(kept: Restriction, address: Address) -> bool:
    networks = [ip_network(text) for text in kept.within or ("0.0.0.0/0", "::/0")]
    inside = any(address in net for net in networks if net.version == address.version)
    return inside and address.version in kept.families


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
            for address in asked:
                _compare(full, narrow, address, Restriction({}), kept)


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
