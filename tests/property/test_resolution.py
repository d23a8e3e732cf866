"""The engine on a compiled dataset answers what the slow oracle answers, at every edge."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import ip_address, ip_network
from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import geolookup
from tests.oracle import FIELDS, Address, Source, SourceRow, expected
from tests.property.compiled import opened
from tests.range_strategies import CELLS, addresses, edges, recipes, restricted_recipes
from tests.tiers import scaled

AT = 1_795_000_000


def row(first: str, last: str, isp: str) -> SourceRow:
    return SourceRow(ip_address(first), ip_address(last), {"isp": isp} if isp else {})


#: Equally small ranges of both families, in either order: the later start decides.
TIES = [
    Source([row("8.8.8.0", "8.8.8.7", "x"), row("::ffff:8.8.8.4", "::ffff:8.8.8.11", "y")]),
    Source([row("::ffff:8.8.8.32", "::ffff:8.8.8.39", "y"), row("8.8.8.28", "8.8.8.35", "")]),
]


def named(network: str, number: str, name: str = "") -> SourceRow:
    first, *_, last = ip_network(network)
    return SourceRow(first, last, {"asn": number, "asn_organization": name})


#: Numbers take the name of the first source below that has one, also of a hidden or private row.
NAMES = [
    Source([named("8.8.8.0/30", "1"), named("8.8.8.4/30", "2"), named("8.8.8.8/30", "4")]),
    Source([named("9.0.0.0/24", "1", "First"), named("9.0.0.0/30", "1", "Second"),
            named("10.0.0.0/30", "2", "Private"), named("9.1.0.0/30", "3", "Own"),
            named("9.1.0.8/30", "3"), named("9.1.0.16/30", "4")]),
    Source([named("11.0.0.0/30", "1", "Last"), named("11.0.0.8/30", "4", "Late")]),
]  # fmt: skip


def test_every_field_is_drawn_and_compared() -> None:
    """A cell of each shows in the comparison."""
    assert set(CELLS) == set(FIELDS)
    ends = [ip_address(f"8.8.{number}.0") for number in range(len(CELLS))]
    # Half a coordinate means nothing.
    beside = {"latitude": {"longitude": "1"}, "longitude": {"latitude": "1"}}
    listed = [
        Source([SourceRow(end, end, {name: cells[0], **beside.get(name, {})})])
        for end, (name, cells) in zip(ends, CELLS.items(), strict=True)
    ]
    with opened(listed) as engine:
        nothing = known_members(engine.lookup("9.9.9.9", at=AT))
        for end, name in zip(ends, CELLS, strict=True):
            answer = known_members(engine.lookup(str(end), at=AT))
            assert answer == expected(listed, str(end))
            assert answer != nothing, name


@example(TIES, [])
@example(TIES[1:], [])
@example(NAMES, [])
@settings(max_examples=scaled(8, 80), suppress_health_check=list(HealthCheck))
@given(recipes | restricted_recipes, st.lists(addresses, min_size=20, max_size=40))
def test_engine_equals_oracle(listed: list[Source], probes: list[Address]) -> None:
    with opened(listed) as engine:
        compare(engine, listed, [*probes, *edges(listed)])


def compare(engine: geolookup.Engine, listed: list[Source], probes: Iterable[Address]) -> None:
    for text in map(str, probes):
        assert known_members(engine.lookup(text, at=AT)) == expected(listed, text), text


def known_members(answer: Any) -> dict[str, Any] | None:
    """The part of an envelope that the oracle answers; None for a private address."""
    if not answer["success"]:
        assert answer["error_code"] == 10002
        return None
    data = answer["data"]
    return {
        "location": data["location"],
        "zone": data["time"]["zone"],
        "currency": data["currency"],
        "network": data["network"],
    }
