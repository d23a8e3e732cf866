"""The picture of a page of ``geolookup map``, ``traffic-map.png``; ``docs.pictures`` makes it.

It has charts of the page for a made-up log of a week: most requests are from Europe, in the
evening.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from io import BytesIO
from ipaddress import IPv4Address
from math import cos, pi
from xml.sax.saxutils import escape

import numpy as np
import pyarrow as pa

import geolookup
from geolookup.files.summarize import Summary
from geolookup.files.traffic import Traffic
from geolookup.kernel.lookups import state_of
from geolookup.pictures.charts import Chart, draw
from geolookup.reports.traffic_page import TITLE, lead, sections
from geolookup.store.paths import BUNDLED
from geolookup.tables.times import Instants

_SEED, _REQUESTS = 1, 20_000
_TOP, _LEAST = 10, 5
#: The weight of an address by country; in other countries it is 1.
_WEIGHTS = {"AT": 70, "CH": 70, "DE": 50, **dict.fromkeys(("FR", "GB", "IT", "NL", "PL"), 8)}
_FIRST, _HOUR, _WEEK = 1_795_392_000, 3600, 7 * 86400  # Monday, 2026-11-23, 00:00 UTC
_EVENING = 19
_WIDTH, _HEIGHT, _MARGIN, _INK, _MUTED = 848, 770, 24, "#1f2328", "#59636e"
_COLOURS = 128  # in a part of the bytes of all colours
#: A colour of a page, light first.
_LIGHT = re.compile(r"light-dark\((#\w+), #\w+\)")


def picture() -> bytes:
    """Draw the title of the page, its map of the world with the key, and two charts below it."""
    import vl_convert
    from PIL import Image

    charts, below = _charts()
    world = charts["world"]
    shapes = [
        _text(_MARGIN, 42, TITLE, 24),
        _text(_MARGIN, 66, below, 13, _MUTED),
        *_drawing(world, _MARGIN, 96),
        *_key([(text, style) for text, style in world.key if style], 484),
        *_drawing(charts["week"], _MARGIN, 532),
        *_drawing(charts["top-countries"], 450, 532),
    ]
    body = _LIGHT.sub(r"\1", "".join(shapes)).replace("currentColor", _INK)
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{_HEIGHT}">'
        f'<rect width="100%" height="100%" fill="white"/>{body}</svg>'
    )
    image = Image.open(BytesIO(vl_convert.svg_to_png(svg))).convert("RGB")
    output = BytesIO()
    image.quantize(_COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(
        output, "png", optimize=True
    )
    return output.getvalue()


def _drawing(chart: Chart, x: int, y: int) -> Iterator[str]:
    """Yield a chart below its title."""
    yield _text(x, y, chart.title, 15)
    svg = draw(chart.name, {"padding": 0 if chart.wide else 8, **chart.spec})
    yield f'<g transform="translate({x} {y + 10})">{svg}</g>'


def _key(items: list[tuple[str, str]], y: int) -> Iterator[str]:
    """Yield the marks and texts of the key, four on a line."""
    for at, (text, style) in enumerate(items):
        x, line = _MARGIN + at % 4 * 140, y + at // 4 * 20
        colour = re.search(r"background:(.*)", style)
        if colour:
            yield f'<rect x="{x}" y="{line - 10}" width="12" height="12" fill="{colour[1]}"/>'
            yield _text(x + 18, line, text, 13)


def _charts() -> tuple[dict[str, Chart], str]:
    """Return the charts of the page by name, and the sentence under its title."""
    with geolookup.open(BUNDLED) as engine:
        addresses, seconds = zip(*_requests(engine), strict=True)
        traffic = Traffic(state_of(engine))
        summary = Summary(engine, traffic)
        instants = Instants(np.array(seconds, np.int64), np.ones(len(seconds), bool))
        summary.add(pa.array(addresses, pa.string()), instants=instants)
        shown = list(sections(summary, traffic, engine.metadata, _TOP, _LEAST))
        charts = [chart for section in shown for chart in section.values.get("charts", ())]
        return {chart.name: chart for chart in charts}, lead(summary, traffic, _LEAST)


def _requests(engine: geolookup.Engine) -> Iterator[tuple[str, int]]:
    generator, made = random.Random(_SEED), 0  # noqa: S311 - not for secrets
    most = max(_WEIGHTS.values()) * 2
    while made < _REQUESTS:
        address = str(IPv4Address(generator.getrandbits(32)))
        country, second = engine.get(address, "country"), generator.randrange(_WEEK)
        often = 1.05 + cos((second / _HOUR - _EVENING) * pi / 12)
        if country and generator.random() * most < _WEIGHTS.get(country, 1) * often:
            made += 1
            yield address, _FIRST + second


def _text(x: float, y: float, text: str, size: int, ink: str = _INK) -> str:
    font = f'font-family="Arial, Liberation Sans, sans-serif" font-size="{size}"'
    return f'<text x="{x}" y="{y}" {font} fill="{ink}">{escape(text)}</text>'
