"""Makes the pictures of the README and of the pages in docs: ``python -m docs.pictures``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.harness.plots import chart
from benchmarks.harness.tables import Cell, Number, Table
from docs import address_map, terminal

FOLDER = Path(__file__).parent
README = FOLDER.parent / "README.md"


def speed() -> bytes:
    """Draw the table of speed in the README: both show the same figures."""
    _, *columns = next(_rows(r"ns per lookup"))
    rows = [[cells[0], *map(_number, cells[1:])] for cells in _rows(r"\**(?:geolookup|maxminddb)")]
    header = ("Nanoseconds per lookup on one core: shorter is better", *columns)
    table = Table("speed", header, rows, unit="ns", ours="geolookup")
    return chart(table, across=1).picture_svg().encode()  # readable on a narrow screen


def _rows(first: str) -> Iterator[list[str]]:
    """Yield the cells of the rows whose first cell begins so, without their markup."""
    text = README.read_text(encoding="utf-8")
    for row in re.findall(rf"^\| ({first}.+) \|$", text, re.MULTILINE):
        yield re.sub(r"[*`]", "", row).split(" | ")


def _number(cell: str) -> Cell:
    return Number(int(cell.replace(",", "")))


def session() -> bytes:
    """Run the commands of the terminal session and draw their output."""
    return terminal.svg(terminal.record()).encode()


#: Each picture by its file in docs.
PICTURES: dict[str, Callable[[], bytes]] = {
    "address-map.png": address_map.png,
    "speed.svg": speed,
    "terminal.svg": session,
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
