"""``explain`` names the rows and sources that the slow oracle finds, and its ranges are whole."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from ipaddress import ip_address
from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import geolookup
from geolookup.contract.address import canonical
from geolookup.contract.special import CARRIES_IPV4, PRIVATE, ranges_of
from tests.oracle import (
    LAYERS,
    Address,
    Source,
    SourceRow,
    carried,
    decided,
    is_public,
    known,
    row_of,
)
from tests.property.compiled import opened
from tests.range_strategies import addresses, as_csv, edges, recipes, restricted_recipes
from tests.tiers import scaled

#: Where answers of another kind begin and end, whatever the sources say.
_BOUNDS = {
    ip_address(canonical(family, end))
    for family in (4, 6)
    for kind in (PRIVATE, CARRIES_IPV4)
    for span in ranges_of(family, kind)
    for end in span
}


_CLIPPED = SourceRow(ip_address("9.255.0.0"), ip_address("11.0.0.255"), {"isp": "wide"})
_FOLDED = SourceRow(ip_address("::ffff:9.255.255.0"), ip_address("::ffff:9.255.255.255"), {})
_STRADDLING = SourceRow(
    ip_address("::fffe:ffff:fff0"), ip_address("::ffff:9.255.255.0"), {"isp": "x"}
)
#: A row around private space, an empty one folded over it, and one that is folded in part.
CASES = [
    Source([_CLIPPED, _FOLDED]),
    Source([_STRADDLING], frozenset({"isp"})),
    Source([_STRADDLING], frozenset({"asn"})),
]


@example(CASES, [])
@settings(max_examples=scaled(4, 40), suppress_health_check=list(HealthCheck))
@given(recipes | restricted_recipes, st.lists(addresses, min_size=20, max_size=40))
def test_explain_equals_oracle(listed: list[Source], probes: list[Address]) -> None:
    asked = {item for item in (*probes, *edges(listed)) if is_public(carried(item))}
    asked |= {carried(request) for request in asked}
    with opened(listed, 'explain = "full"') as engine:
        ordered = sorted(asked, key=lambda address: (address.version, int(address)))
        compare(engine, listed, ordered)


def compare(engine: geolookup.Engine, listed: list[Source], asked: Iterable[Address]) -> None:
    places = [lines(entry) for entry in listed]
    truth = {request: decided(listed, carried(request)) for request in asked}
    alike, ranges = {}, {}
    for address in asked:
        explained = engine.explain(str(address))
        assert explained["network"] == str(engine.answer(address).prefix)
        actual = {name: item and item["source"] for name, item in explained["layers"].items()}
        assert actual == {
            layer: f"{number - 1}.csv" if number else None
            for layer, number in truth[address].items()
        }
        check_rows(explained, stated(listed, places, carried(address)))
        alike[explained["same_sources"]] = carried(address)
        for layer, element in explained["layers"].items():
            if element:
                ranges[element["range"], layer] = carried(address)
    for text, address in alike.items():
        check_one_kind(text)
        check_range(text, address, truth)
    for (text, layer), address in ranges.items():
        check_range(text, address, {item: truth[item][layer] for item in truth})


def check_range(text: str, address: Address, truth: dict[Address, Any]) -> None:
    """All in the range is decided alike, and the addresses at either side are not."""
    first, last = (ip_address(end) for end in text.split("-"))
    assert int(first) <= int(address) <= int(last)
    for item, sources in truth.items():
        if item.version == first.version and carried(item) == item:
            beside = int(item) in (int(first) - 1, int(last) + 1)
            if beside or int(first) <= int(item) <= int(last):
                assert (sources != truth[address]) == beside, text


def check_one_kind(text: str) -> None:
    """No special-purpose space begins or ends inside the range."""
    first, last = (ip_address(end) for end in text.split("-"))
    bounds = (int(bound) for bound in _BOUNDS if bound.version == first.version)
    assert not any(int(first) < bound < int(last) for bound in bounds)


def check_rows(explained: Any, expected: list[dict[str, Any]]) -> None:
    """Each source has its deciding row; a layer has the first row that knows it."""
    assert explained["sources"] == expected
    for layer, item in explained["layers"].items():
        row = next((value for value in expected if layer in value["values"]), None)
        assert (item and item["row"]) == (
            row and {name: row[name] for name in ("file", "line", "range")}
        )


def lines(source: Source) -> list[int]:
    """The line that each row of a source's file begins on."""
    reader, actual = csv.reader(io.StringIO(as_csv(source), newline="")), []
    next(reader)
    begin = reader.line_num + 1
    for _ in reader:
        actual.append(begin)
        begin = reader.line_num + 1
    return actual


def stated(listed: list[Source], places: list[list[int]], address: Address) -> list[dict[str, Any]]:
    """The deciding row of each source that has one."""
    actual = []
    for number, source in enumerate(listed):
        row = row_of(source, address)
        if row is not None:
            # Equal rows may be there twice: the later one decides.
            at = max(n for n, item in enumerate(source.rows) if item == row)
            values = {layer: known(row, layer, source.fields) for layer in LAYERS}
            actual.append(
                {
                    "source": f"{number}.csv",
                    "date": None,
                    "licence": None,
                    "file": f"{number}.csv",
                    "line": places[number][at],
                    "range": f"{_text(row.first)}-{_text(row.last)}",
                    "values": {layer: said for layer, said in values.items() if said},
                }
            )
    return actual


def _text(address: Address) -> str:
    mapped = address.version == 6 and address.ipv4_mapped
    nat64 = int(address) >> 32 == 0x64FF9B << 64 and address.version == 6
    low = ip_address(int(address) & 0xFFFF_FFFF)
    return f"::ffff:{mapped}" if mapped else f"64:ff9b::{low}" if nat64 else str(address)
