"""What a drawing holds: its elements, colours and texts."""

from __future__ import annotations

from xml.etree import ElementTree as ET

_SVG = "{http://www.w3.org/2000/svg}"


def parsed(markup: str) -> ET.Element:
    """Return a chart of a page, a drawing and its key, as one element."""
    return ET.fromstring(f"<page>{markup}</page>")  # noqa: S314 - a drawing of our own


def fills(markup: str) -> list[tuple[str, str]]:
    """Return the fill and the line of each filled path that a reader can see, in order."""
    paths = parsed(markup).iter(f"{_SVG}path")
    return [
        (path.attrib["fill"], path.attrib["d"])
        for path in paths
        if path.attrib.get("fill", "none") not in ("none", "transparent")
    ]


def texts(markup: str) -> list[str]:
    """Return the texts of a drawing, and of its key."""
    root = parsed(markup)
    return ["".join(item.itertext()) for tag in (f"{_SVG}text", "li") for item in root.iter(tag)]


def titles(markup: str) -> list[str]:
    """Return what a page shows of each shape at the cursor."""
    return [item.text or "" for item in parsed(markup).iter(f"{_SVG}title")]
