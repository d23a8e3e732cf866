"""Pictures as PNG files, at twice the size for print.

Each file names its maker in a text chunk (PNG, 3rd edition, 11.3.3). By that ``--force``
replaces no folder of other pictures.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

#: Pixels of a file for each px of the picture.
SCALE = 2
#: The colour of texts and lines; the font that vl-convert measures with, and others to show.
INK, FONT = "#1f2328", "Arial, Liberation Sans, Helvetica, sans-serif"
#: The length of a PNG's signature and its first chunk, the header.
_HEADER = 33


class Picture(NamedTuple):
    """A picture of its own: dark ink on white, as SVG."""

    name: str  # of its file, without suffix
    svg: str


def drawing(width: float, height: float, content: str) -> str:
    """Return SVG of a size in px: elements, by default in ink, on white."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'font-family="{FONT}" fill="{INK}"><rect width="100%" height="100%" fill="white"/>'
        f"{content}</svg>"
    )


def write_png(folder: Path, pictures: Iterable[Picture]) -> list[Path]:
    """Write each picture to the folder as NAME.png; return the paths."""
    import vl_convert

    written = []
    for picture in pictures:
        path = folder / f"{picture.name}.png"
        data = vl_convert.svg_to_png(picture.svg, scale=SCALE)
        path.write_bytes(data[:_HEADER] + _MAKER + data[_HEADER:])
        written.append(path)
    return written


def is_picture(path: Path) -> bool:
    """Tell whether ``write_png`` has written the file; raises OSError."""
    if path.suffix != ".png" or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(_HEADER + len(_MAKER))[_HEADER:] == _MAKER


def _chunk(kind: bytes, content: bytes) -> bytes:
    checked = kind + content
    return len(content).to_bytes(4, "big") + checked + zlib.crc32(checked).to_bytes(4, "big")


_MAKER = _chunk(b"tEXt", b"Software\0geolookup")
