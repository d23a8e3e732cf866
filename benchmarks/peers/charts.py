"""The bars of the README, drawn from a result of ``peers``: ns per lookup, as SVG and PNG.

Strategy: one panel for each distribution, the same rows in both, ordered as
the table is. The background is white, so that it reads on a dark page too.
"""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any

_WORKLOADS = {
    "zipf IPv4 hit": "popular addresses (zipf)",
    "uniform IPv4 hit": "any address (uniform)",
}
#: Ours in one colour, the others in another, apart in lightness too.
_OURS, _OTHERS, _INK = "#0b6e4f", "#b8c0c8", "#1f2328"
_BARS = (
    "geolookup (compiled) lookup_json",
    "geolookup (compiled) lookup",
    "geolookup (python) lookup_json",
    "geolookup (python) lookup",
    "maxminddb-rust get + orjson",
    "maxminddb-rust get",
    "maxminddb (C) get + json",
    "maxminddb (C) get + orjson",
    "maxminddb (C) get",
    "geoip2 city",
)


def draw(result: dict[str, Any], folder: Path) -> list[Path]:
    """Write ``benchmarks.svg`` and ``benchmarks.png``; return their paths."""
    import matplotlib as mpl

    mpl.use("agg")
    # The same picture gives the same SVG: no random ids and no date.
    mpl.rcParams.update({"svg.hashsalt": "geolookup", "font.size": 9})
    from matplotlib import pyplot as plt

    rows = {
        name: result["rows"][name] for name in _BARS if result["rows"].get(name, {}).get("rounds")
    }
    figure, panels = plt.subplots(
        1, 2, sharey=True, figsize=(10, 1.4 + 0.36 * len(rows)), facecolor="white"
    )
    for panel, (workload, title) in zip(panels, _WORKLOADS.items(), strict=True):
        _panel(panel, title, rows, workload)
    figure.suptitle(
        "Nanoseconds per lookup, one core: shorter is better",
        color=_INK,
        x=0.02,
        ha="left",
        fontweight="bold",
    )
    figure.text(0.02, 0.015, _note(result), color=_INK, fontsize=8)
    figure.tight_layout(rect=(0, 0.05, 1, 1))
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / "benchmarks.svg", folder / "benchmarks.png"]
    figure.savefig(paths[0], metadata={"Date": None})
    figure.savefig(paths[1], dpi=160)
    plt.close(figure)
    return paths


def _panel(panel: Any, title: str, rows: dict[str, Any], workload: str) -> None:
    values = [statistics.median(row["rounds"][workload]) for row in rows.values()]
    labels = [f"{name}\n{row['returns']}" for name, row in rows.items()]
    colours = [_OURS if name.startswith("geolookup") else _OTHERS for name in rows]
    bars = panel.barh(range(len(rows)), values, color=colours, height=0.62)
    panel.bar_label(bars, [f"{value:,.0f}" for value in values], padding=3, color=_INK)
    panel.set_yticks(range(len(rows)), labels, color=_INK, fontsize=8)
    panel.set_title(title, loc="left", color=_INK, fontsize=10)
    panel.set_xlim(0, max(values) * 1.15)
    panel.set_xticks([])
    panel.set_ylim(len(rows) - 0.5, -0.5)  # the first row on top
    panel.spines[:].set_visible(False)
    panel.tick_params(length=0)


def _note(result: dict[str, Any]) -> str:
    counts, machine = result["counts"], result["machine"]
    return (
        f"{counts['ipv4_intervals']:,} IPv4 intervals, {counts['locations']:,} locations;"
        f" {result['addresses']:,} addresses, zipf exponent {result['exponent']:g};"
        f" median of {result['rounds']} rounds; {machine['implementation']} {machine['python']}"
    )
