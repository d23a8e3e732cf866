"""Pictures as PNG files, at twice the size for print."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

#: Pixels of a file for each px of the picture.
SCALE = 2


class Picture(NamedTuple):
    """A picture of its own: dark ink on white, as SVG."""

    name: str  # of its file, without suffix
    svg: str


def write_png(folder: Path, pictures: Iterable[Picture]) -> list[Path]:
    """Write each picture to the folder as NAME.png; return the paths."""
    import vl_convert

    written = []
    for picture in pictures:
        path = folder / f"{picture.name}.png"
        path.write_bytes(vl_convert.svg_to_png(picture.svg, scale=SCALE))
        written.append(path)
    return written
