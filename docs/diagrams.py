"""The diagrams of the pages; ``docs.pictures`` makes them.

Positions and sizes are in pixels, from the upper left corner.
"""

from __future__ import annotations

from xml.sax.saxutils import escape

_INK, _MUTED, _PALE = "#1f2328", "#59636e", "#f6f8fa"
_BLUE, _ORANGE, _GREEN, _GREY = "#d3e5f8", "#fde2c5", "#d9efd5", "#e6e8eb"
_LINE = 17


def _text(x: float, y: float, text: str, anchor: str = "middle", ink: str = _INK) -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="{ink}">{escape(text)}</text>'


def _note(x: float, y: float, text: str, anchor: str = "middle") -> str:
    return _text(x, y, text, anchor, _MUTED)


def _box(x: float, y: float, width: float, height: float, text: str, fill: str = _PALE) -> str:
    """Return a rectangle with its lines of text in the middle."""
    lines = text.split("\n")
    first = y + height / 2 + 4.5 - _LINE * (len(lines) - 1) / 2
    shape = (
        f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="4" '
        f'fill="{fill}" stroke="{_MUTED}"/>'
    )
    written = (_text(x + width / 2, first + _LINE * at, line) for at, line in enumerate(lines))
    return shape + "".join(written)


def _arrow(*points: float) -> str:
    """Return a line through points, x and y in turn, with a head at its end."""
    path = " ".join(f"{x},{y}" for x, y in zip(points[::2], points[1::2], strict=True))
    return f'<polyline points="{path}" fill="none" stroke="{_MUTED}" marker-end="url(#head)"/>'


def _diagram(width: int, height: int, title: str, *shapes: str) -> bytes:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" font-family="Helvetica, Arial, sans-serif" '
        f'font-size="13"><title>{escape(title)}</title>'
        '<marker id="head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" '
        f'orient="auto"><path d="M0,0 8,4 0,8z" fill="{_MUTED}"/></marker>'
        f'<rect width="{width}" height="{height}" fill="white"/>'
    )
    return "\n".join((head, *shapes, "</svg>", "")).encode()


def answer() -> bytes:
    """Draw the way from an address to its answer."""
    return _diagram(
        740, 340, "How an answer is made",
        _box(10, 30, 110, 44, "text\n8.8.8.8", _BLUE),
        _arrow(120, 52, 150, 52),
        _box(150, 30, 110, 44, "parse"),
        _arrow(205, 74, 205, 110),
        _box(150, 110, 110, 44, "error 10001\nmalformed", _ORANGE),
        _arrow(260, 52, 290, 52),
        _box(290, 30, 130, 44, "private? (IANA's\nspecial registries)"),
        _arrow(355, 74, 355, 110),
        _box(290, 110, 130, 44, "error 10002\nprivate", _ORANGE),
        _arrow(420, 52, 450, 52),
        _box(450, 30, 130, 44, "search the interval\nof the address"),
        _arrow(515, 74, 515, 110),
        _note(523, 94, "two row numbers", "start"),
        _box(450, 110, 130, 30, "location row", _GREEN),
        _box(600, 110, 130, 30, "network row", _GREEN),
        _arrow(515, 102, 665, 102, 665, 110),
        _arrow(515, 140, 515, 170),
        _box(450, 170, 62, 30, "country", _GREEN),
        _box(518, 170, 62, 30, "zone", _GREEN),
        _box(600, 170, 124, 30, "instant: at, or now", _BLUE),
        _box(450, 225, 62, 30, "currency", _GREEN),
        _box(518, 225, 206, 30, "local time"),
        _arrow(450, 125, 440, 125, 440, 302, 450, 302),
        _arrow(481, 200, 481, 225),
        _arrow(549, 200, 549, 225),
        _arrow(662, 200, 662, 225),
        _box(450, 280, 274, 44, "envelope: location, time,\ncurrency, network"),
        _arrow(481, 255, 481, 280),
        _arrow(621, 255, 621, 280),
        _arrow(730, 125, 736, 125, 736, 302, 724, 302),
        _note(10, 200, "blue: what a caller gives", "start"),
        _note(10, 220, "orange: the answer has an error, and no data", "start"),
        _note(10, 240, "green: tables of the dataset; unknown values are null", "start"),
    )  # fmt: skip


def dataset() -> bytes:
    """Draw the rows of two sources above the intervals that they decide."""
    left, whole = 150, 570
    quarter = whole / 4
    return _diagram(
        740, 330, "From files to a dataset",
        _note(left, 20, "198.41.0.0", "start"),
        _note(left + quarter, 20, "198.41.0.128"),
        _note(left + 2 * quarter, 20, "198.41.1.0"),
        _note(left + whole, 20, "198.41.255.255", "end"),
        _text(10, 50, "1. sites.csv", "start"),
        _box(left, 32, quarter, 28, "/25: DE, Bonn", _BLUE),
        _text(10, 90, "2. vendor.csv", "start"),
        _box(left, 72, 2 * quarter, 28, "/24: US, no city, AS64501", _ORANGE),
        _box(left, 108, whole, 28, "/16: US, New York, AS64500", _ORANGE),
        _note(10, 126, "(two rows)", "start"),
        _arrow(left + whole / 2, 140, left + whole / 2, 172),
        _note(left + whole / 2 + 10, 160, "for each layer, the first source with a value", "start"),
        _text(10, 194, "location", "start"),
        _box(left, 176, quarter, 28, "DE, Bonn", _BLUE),
        _box(left + quarter, 176, quarter, 28, "US", _ORANGE),
        _box(left + 2 * quarter, 176, 2 * quarter, 28, "US, New York", _ORANGE),
        _text(10, 230, "asn", "start"),
        _box(left, 212, 2 * quarter, 28, "AS64501", _ORANGE),
        _box(left + 2 * quarter, 212, 2 * quarter, 28, "AS64500", _ORANGE),
        _arrow(left + whole / 2, 244, left + whole / 2, 272),
        _text(10, 298, "intervals", "start"),
        _box(left, 276, quarter, 40, "DE, Bonn\nAS64501", _GREEN),
        _box(left + quarter, 276, quarter, 40, "US\nAS64501", _GREEN),
        _box(left + 2 * quarter, 276, 2 * quarter, 40, "US, New York\nAS64500", _GREEN),
    )  # fmt: skip


def store() -> bytes:
    """Draw a year of a store: what is published, in force and kept."""
    return _diagram(
        740, 250, "A store over time",
        *(_note(x, 20, text) for x, text in (
            (150, "1 March"), (300, "1 May"), (450, "1 June"), (540, "20 June"), (640, "1 July"))),
        _text(10, 50, "published", "start"),
        _arrow(300, 32, 300, 62), _note(306, 50, "may", "start"),
        _arrow(450, 32, 450, 62), _note(456, 50, "june", "start"),
        _arrow(640, 32, 640, 62), _note(646, 44, "march, with", "start"),
        _note(646, 60, "--since", "start"),
        _text(10, 92, "in force", "start"),
        _box(150, 72, 150, 30, "march", _GREY),
        _box(300, 72, 150, 30, "may", _BLUE),
        _box(450, 72, 90, 30, "june", _GREEN),
        _box(540, 72, 60, 30, "may", _BLUE),
        _box(600, 72, 130, 30, "june", _GREEN),
        _note(540, 122, "rollback"), _note(606, 122, "published again", "start"),
        _text(10, 160, "as of", "start"),
        _arrow(220, 150, 220, 104), _note(220, 164, "10 April: march"),
        _arrow(390, 150, 390, 104), _note(390, 164, "20 May: may"),
        _text(10, 212, "kept as", "start"),
        _box(150, 192, 150, 30, "archive", _GREY),
        _box(320, 192, 130, 30, "folder", _BLUE),
        _box(470, 192, 130, 30, "folder", _GREEN),
        _note(225, 240, "march"), _note(385, 240, "may"), _note(535, 240, "june, current"),
    )  # fmt: skip


def service() -> bytes:
    """Draw the decisions about a request, and what the workers share."""
    checks = ("key", "rate", "quota", "address")
    refusals = ("401: 20001, 20002", "429: 30001", "429: 30002", "400: 10001, 10002")
    columns = [250 + 122 * at for at in range(4)]
    return _diagram(
        740, 270, "The service and its limits",
        _box(10, 60, 90, 44, "client", _BLUE),
        _arrow(100, 82, 130, 82),
        _box(130, 60, 80, 44, "nginx:\nTLS, limits"),
        _arrow(210, 82, 250, 82),
        '<rect x="236" y="30" width="494" height="150" rx="6" fill="none" '
        f'stroke="{_MUTED}" stroke-dasharray="4 3"/>',
        _note(244, 48, "a worker, one for each core", "start"),
        *(_box(x, 60, 96, 44, check) for x, check in zip(columns, checks, strict=True)),
        *(_arrow(x + 96, 82, x + 122, 82) for x in columns[:3]),
        *(_arrow(x + 48, 104, x + 48, 136) for x in columns),
        *(_box(x - 8, 136, 114, 28, text, _ORANGE)
          for x, text in zip(columns, refusals, strict=True)),
        _arrow(712, 82, 722, 82, 722, 22, 55, 22, 55, 60),
        _note(400, 16, "200: the answer"),
        _box(250, 216, 340, 36, "account store: SQLite or Redis, one transaction a batch", _GREEN),
        _arrow(420, 216, 420, 182),
        _box(606, 216, 124, 36, "dataset, mapped", _GREEN),
        _arrow(668, 216, 668, 182),
        _note(10, 200, "401 and 429 consume", "start"),
        _note(10, 218, "nothing; 200 and 400", "start"),
        _note(10, 236, "count", "start"),
    )  # fmt: skip


def update() -> bytes:
    """Draw the steps of an update, and what each refuses."""
    steps = (
        ("download", "a server that fails,\na login page,\na cut file"),
        ("build", "above max_…,\nbelow min_…:\nbad or few rows"),
        ("[quality]", "wrong answers,\nlow coverage"),
        ("fail_if", "too much moved\nor lost since\nthe last update"),
        ("publish", ""),
    )
    shapes = []
    for at, (step, refused) in enumerate(steps):
        x = 10 + 147 * at
        shapes.append(_box(x, 10, 130, 34, step, _BLUE if refused else _GREEN))
        if refused:
            shapes += [_arrow(x + 130, 27, x + 147, 27), _arrow(x + 65, 44, x + 65, 74)]
            shapes.append(_box(x, 74, 130, 62, refused, _ORANGE))
    note = _note(10, 158, "orange: refused; the store keeps its current generation", "start")
    return _diagram(740, 170, "What an update refuses", *shapes, note)
