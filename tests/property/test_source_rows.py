"""``explain = "full"`` names the deciding row of every source that the slow oracle finds.

Strategy: the files that the recipes are written as say on which line each row stands, so that
file, line, range and values are all compared; few and big examples, as for the answers.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from ipaddress import ip_address
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import geolookup
from tests.conftest import build_at
from tests.oracle import LAYERS, Address, Source, SourceRow, carried, deciding, is_public, known
from tests.range_strategies import addresses, as_csv, edges, recipe, recipes
from tests.tiers import scaled

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
@settings(max_examples=scaled(5, 60), suppress_health_check=list(HealthCheck))
@given(recipes, st.lists(addresses, min_size=20, max_size=40))
def test_explain_equals_oracle(listed: list[Source], probes: list[Address]) -> None:
    files: dict[str, str | bytes] = {f"{n}.csv": as_csv(each) for n, each in enumerate(listed)}
    text = recipe(listed).replace("\n", '\nexplain = "full"\n', 1)
    with TemporaryDirectory() as folder:
        output, _ = build_at(Path(folder), files, text)
        with geolookup.open(output) as engine:
            compare(engine, listed, [*probes, *edges(listed)])


def compare(engine: geolookup.Engine, listed: list[Source], probes: Iterable[Address]) -> None:
    places = [lines(each) for each in listed]
    for address in {each for each in probes if is_public(carried(each))}:
        explained = engine.explain(str(address))
        expected = stated(listed, places, carried(address))
        assert explained["sources"] == expected
        for layer, decided in explained["layers"].items():
            row = next((each for each in expected if layer in each["values"]), None)
            assert (decided and decided["row"]) == (
                row and {name: row[name] for name in ("file", "line", "range")}
            )


def lines(source: Source) -> list[int]:
    """The line that each row of a source's file begins on."""
    reader, found = csv.reader(io.StringIO(as_csv(source), newline="")), []
    next(reader)
    begin = reader.line_num + 1
    for _ in reader:
        found.append(begin)
        begin = reader.line_num + 1
    return found


def stated(listed: list[Source], places: list[list[int]], address: Address) -> list[dict[str, Any]]:
    """The deciding row of each source that has one."""
    found = []
    for number, source in enumerate(listed):
        row = deciding(source.rows, address)
        if row is not None:
            # Equal rows may be there twice: the later one decides.
            at = max(n for n, each in enumerate(source.rows) if each == row)
            values = {layer: known(row, layer, source.provides) for layer in LAYERS}
            found.append(
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
    return found


def _text(address: Address) -> str:
    mapped = address.version == 6 and address.ipv4_mapped
    nat64 = int(address) >> 32 == 0x64FF9B << 64 and address.version == 6
    low = ip_address(int(address) & 0xFFFF_FFFF)
    return f"::ffff:{mapped}" if mapped else f"64:ff9b::{low}" if nat64 else str(address)
