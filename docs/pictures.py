"""Makes the pictures of the README and of the pages in docs: ``python -m docs.pictures``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from docs import diagrams, terminal, traffic
from geolookup.comparison.values import read_tables
from geolookup.dataset.files import Dataset
from geolookup.pictures.address_map import address_map
from geolookup.pictures.charts import draw
from geolookup.pictures.colours import CATEGORIES, OTHER
from geolookup.pictures.layers import pixels, png
from geolookup.reports.dataset.views import dataset_views
from geolookup.store.paths import BUNDLED

FOLDER = Path(__file__).parent
README = FOLDER.parent / "README.md"
#: Pixels: of the longest bar with its label, of a label of a row, and of a row.
_WIDTH, _LABEL, _ROW = 210, 240, 20
#: The colour of texts.
_INK = "#1f2328"
#: A pixel of the address map is a /22, as on the page of a report: 2^10 addresses.
_PIXEL_BITS = 10


def speed() -> bytes:
    """Draw the table of speed in the README, a panel for each column."""
    _, *columns = next(_rows(r"ns per lookup"))
    rows = list(_rows(r"\**(?:geolookup|maxminddb)"))
    numbers = [[int(cell.replace(",", "")) for cell in row[1:]] for row in rows]
    longest = max(max(row) for row in numbers)
    names = [row[0] for row in rows]
    panels = [
        _panel(column, names, [row[at] for row in numbers], longest)
        for at, column in enumerate(columns)
    ]
    text = "Nanoseconds per lookup on one core: shorter is better"
    title = {"text": text, "anchor": "start", "frame": "bounds", "offset": 12, "fontSize": 14}
    spec = {"vconcat": panels, "spacing": 16, "title": title, "background": "white", "padding": 16}
    return draw("speed", spec).replace("currentColor", _INK).encode()


def _panel(title: str, names: list[str], numbers: list[int], longest: int) -> dict[str, Any]:
    values = [
        {
            "name": name,
            "value": number,
            "label": f"{number:,} ns",
            "colour": CATEGORIES[0] if name.startswith("geolookup") else OTHER,
        }
        for name, number in zip(names, numbers, strict=True)
    ]
    # The longest bar leaves room for its label.
    scale = {"domain": [0, longest], "range": [0, _WIDTH - 70], "nice": False}
    x = {"field": "value", "type": "quantitative", "axis": None, "scale": scale}
    axis = {"labelLimit": 620, "labelPadding": 6, "minExtent": _LABEL, "title": None}
    colour = {"field": "colour", "type": "nominal", "scale": None}
    return {
        "title": {"text": title, "anchor": "start", "frame": "group", "fontSize": 12},
        "width": _WIDTH,
        "height": {"step": _ROW},
        "data": {"values": values},
        "encoding": {"y": {"field": "name", "type": "nominal", "sort": None, "axis": axis}, "x": x},
        "layer": [
            {"mark": "bar", "encoding": {"color": colour}},
            {
                "mark": {"type": "text", "align": "left", "dx": 4},
                "encoding": {"text": {"field": "label"}},
            },
        ],
    }


def _rows(first: str) -> Iterator[list[str]]:
    """Yield the cells of the rows whose first cell begins so, without their markup."""
    text = README.read_text(encoding="utf-8")
    for row in re.findall(rf"^\| ({first}.+) \|$", text, re.MULTILINE):
        yield re.sub(r"[*`]", "", row).split(" | ")


def countries() -> bytes:
    """Draw each address of IPv4 in the colour of its country in the bundled dataset."""
    dataset = Dataset(BUNDLED)
    views = dataset_views(dataset, read_tables(dataset), 4)
    whole = address_map([view for view in views if view.name == "country"])
    return png(pixels(whole.coarser(_PIXEL_BITS), 0), whole.views[0].colours)


def session() -> bytes:
    """Run the commands of the terminal session and draw their output."""
    return terminal.svg(terminal.record()).encode()


#: Each picture by its file in docs.
PICTURES: dict[str, Callable[[], bytes]] = {
    "address-map.png": countries,
    "speed.svg": speed,
    "traffic-map.png": traffic.picture,
    "terminal.svg": session,
    "concepts/answer.svg": diagrams.answer,
    "concepts/dataset.svg": diagrams.dataset,
    "concepts/store.svg": diagrams.store,
    "concepts/service.svg": diagrams.service,
    "data/update.svg": diagrams.update,
}


def make() -> Iterator[Path]:
    """Make every picture, and yield the paths."""
    for name, drawn in PICTURES.items():
        path = FOLDER / name
        path.write_bytes(drawn())
        yield path


if __name__ == "__main__":
    for made in make():
        print(made.name)
