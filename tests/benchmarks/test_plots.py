"""Tables of benchmarks as pictures: the bars carry the values that are printed."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from benchmarks.harness.plots import chart, draw
from benchmarks.harness.ratios import Ratio, ratio_table
from benchmarks.harness.tables import Cell, Number, Table
from tests.skips import needs

pytestmark = needs("vl_convert")


def bars(table: Table) -> list[dict[str, Any]]:
    """Return the bars of a chart, with the width in px that the scale gives each."""
    found = []
    for line in chart(table).spec["vconcat"]:
        for panel in line["hconcat"]:
            scale = panel["layer"][0]["encoding"]["x"]["scale"]
            at = math.log if scale["type"] == "log" else float
            least, most = map(at, scale["domain"])
            for bar in panel["data"]["values"]:
                width = (at(bar["end"]) - least) / (most - least) * scale["range"][1]
                found.append({**bar, "px": width, "log": scale["type"] == "log"})
    return found


amounts = st.just(0.0) | st.floats(1e-6, 1e9)
cells = st.one_of(
    st.builds(Number, amounts, st.just(",.2f"), st.sampled_from(["", " MB", "x"])),
    st.just("-"),
)
rows_of_cells = st.lists(st.lists(cells, min_size=2, max_size=2), min_size=1, max_size=6)


@given(rows_of_cells, st.sampled_from(["", "ns"]))
def test_each_number_is_a_bar_with_its_text(rows: list[list[Cell]], unit: str) -> None:
    named = [(f"row {at}", *row) for at, row in enumerate(rows)]
    table = Table("name", ("title", "one", "other"), named, unit)
    drawn = {(bar["name"], bar["label"], bar["end"]) for bar in bars(table)}
    for name, *row in named:
        for cell in row:
            if isinstance(cell, Number) and cell.value:
                label = str(cell) if cell.unit or not unit else f"{cell} {unit}"
                assert (name, label, cell.value) in drawn


@given(st.lists(st.floats(1, 1e7), min_size=2, max_size=6))
def test_a_greater_value_has_a_longer_bar(values: list[float]) -> None:
    table = Table(
        "name", ("title", "s"), [(str(at), Number(each)) for at, each in enumerate(values)]
    )
    drawn = bars(table)
    assert {bar["log"] for bar in drawn} == {max(values) / min(values) > 100}
    ordered = sorted(drawn, key=lambda bar: bar["end"])
    assert [bar["px"] for bar in ordered] == sorted(bar["px"] for bar in drawn)
    assert all(0 <= bar["px"] <= 140.001 for bar in drawn)


def test_panels_scales_colours_and_bounds() -> None:
    line = [("a", Number(10), Number(40), Number(2, ".1f", "x"))]
    shared = bars(Table("name", ("title", "one", "other", "over"), line, unit="ns"))
    assert [bar["px"] for bar in shared] == [35, 140, 140]
    assert [bar["label"] for bar in shared] == ["10 ns", "40 ns", "2.0x"]
    alone = bars(Table("name", ("title", "one", "other", "over"), line))
    assert [bar["px"] for bar in alone] == [140, 140, 140]
    peak = Number(9, ".1f", " GB")
    rows: list[list[Cell]] = [["geolookup", Number(5)], ["peak", peak], ["none", "unknown"]]
    ours, other = bars(Table("name", ("title", ""), rows, ours="geolookup"))
    assert (ours["label"], other["label"]) == ("5", "9.0 GB")  # each unit has a panel
    assert ours["colour"] != other["colour"]
    ratios = [Ratio("one", 3, 4, True, "x"), Ratio("other", 5, None, unit="x")]
    one, other = bars(ratio_table("name", "ratios", ratios))
    assert (one["label"], one["bound"]) == ("3.00x (>= 4x missed)", 4)
    assert (other["label"], other["bound"]) == ("5.00x", None)


def test_tables_without_numbers_are_not_drawn(tmp_path: Path) -> None:
    prose = Table("prose", ("title", ""), [("a", "said")])
    numbers = Table("numbers", ("title", ""), [("a", Number(1))])
    written = draw([prose, numbers], tmp_path / "made")
    assert [path.name for path in written] == ["numbers.svg", "numbers.png"]
    assert written[1].read_bytes().startswith(b"\x89PNG")
