"""What a reader finds at places of a map of the world, in Chromium."""

from __future__ import annotations

import numpy as np

from geolookup.pictures.projection import HEIGHT, WIDTH, project
from tests.browser import Reader

CANVAS = "[data-world] canvas"


def place(reader: Reader, latitude: float, longitude: float) -> tuple[float, float]:
    """The place of the canvas of the whole map, in px from its corner."""
    box = reader.page.locator(CANVAS).bounding_box()
    assert box is not None
    scale = min(box["width"] / (2 * WIDTH), box["height"] / (2 * HEIGHT))
    x, y = project(np.array([latitude]), np.array([longitude]))
    return box["width"] / 2 + float(x[0]) * scale, box["height"] / 2 - float(y[0]) * scale


def pixel(reader: Reader, x: float, y: float) -> list[int]:
    found: list[int] = reader.page.evaluate(
        """([x, y]) => {
          const canvas = document.querySelector("canvas");
          const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d");
          copy.drawImage(canvas, 0, 0);
          const [column, row] = [x, y].map(each => Math.floor(each * devicePixelRatio));
          return [...copy.getImageData(column, row, 1, 1).data];
        }""",
        [x, y],
    )
    return found


def hover(reader: Reader, x: float, y: float) -> str:
    """Point at a place; returns what the map says of it."""
    reader.page.hover(CANVAS, position={"x": x, "y": y})
    return reader.page.locator("[data-world] output").inner_text()


def steps(reader: Reader) -> None:
    """Wait until what has changed is drawn."""
    reader.page.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done)))")


def projected(where: tuple[float, float]) -> list[float]:
    """The point of the plane of the map."""
    x, y = project(np.array([where[0]]), np.array([where[1]]))
    return [float(x[0]), float(y[0])]
