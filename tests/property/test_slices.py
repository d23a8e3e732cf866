"""A part of a dataset against brute force: inside all is the same, outside all is unknown."""

from __future__ import annotations

from ipaddress import ip_network
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import geolookup
from tests.oracle import FIELDS, Address, Restriction, Source, carried, is_public
from tests.prefixes.brute_force import meets
from tests.property.test_dataset_fields import only
from tests.property.test_previous import built
from tests.property.test_resolution import known_members
from tests.range_strategies import addresses, edges, recipes, restrictions, source_keys
from tests.tiers import scaled

AT = 1_795_000_000


@settings(max_examples=scaled(10, 150), suppress_health_check=list(HealthCheck))
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
        for layer, item in part.explain(text)["layers"].items():
            whole = full.explain(text)["layers"][layer]
            assert item is None or (item["source"], item["date"]) == (
                whole["source"],
                whole["date"],
            )
    else:
        assert answer == only(expected, frozenset()), text
        assert not any(part.explain(text)["layers"].values())


def _keeps(kept: Restriction, address: Address, answer: Any) -> bool:
    networks = [ip_network(text) for text in kept.within or ("0.0.0.0/0", "::/0")]
    inside = any(address in net for net in networks if net.version == address.version)
    record = {**answer, "time": {"zone": answer["zone"]}}
    return inside and address.version in kept.families and meets(record, kept.only)
