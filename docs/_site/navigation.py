"""The navigation of the site: six doors, and in each its pages by kind, in order.

A page that no entry names is a warning, and the build fails. ``*`` matches the other pages of a
folder. Each page shows its door and its kind above its title.
"""

from __future__ import annotations

from fnmatch import fnmatch
from itertools import chain
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

TUTORIAL, GUIDE, REFERENCE, EXPLANATION = "Tutorial", "How-to guide", "Reference", "Explanation"
#: By door: the pages of each kind.
DOORS: dict[str, dict[str, list[str]]] = {
    "concepts": {EXPLANATION: ["answer", "dataset", "store", "service"]},
    "use": {
        TUTORIAL: ["tutorial"],
        GUIDE: [
            *("cookbook", "python", "shell", "tables", "spark", "files", "maps", "history"),
        ],
    },
    "integrate": {
        GUIDE: ["web", "proxies", "logging", "prefixes", "from-geoip2", "moving"],
        EXPLANATION: ["privacy"],
    },
    "data": {
        TUTORIAL: ["tutorial"],
        GUIDE: [
            *("own-columns", "overlays", "updating", "compare", "export"),
        ],
        REFERENCE: ["recipe", "losses", "sources/index"],
    },
    "operate": {
        GUIDE: ["production", "api-keys", "stores", "mirrors", "signing"],
        REFERENCE: ["http"],
        EXPLANATION: ["/SECURITY"],
    },
    "reference": {
        REFERENCE: [
            *("python", "engine", "integrations"),
            *("commands", "contract", "format", "benchmarks", "licences", "changelog"),
        ],
    },
}
_TREES = {
    "index": ["Home <self>", *(f"{door}/index" for door in DOORS)],
    **{f"{door}/index": [*chain(*kinds.values())] for door, kinds in DOORS.items()},
    "data/sources/index": ["*"],
}


def setup(app: Sphinx) -> dict[str, bool]:
    """Append its part of the navigation to each page that has one; show the door of each page."""
    app.connect("source-read", _append)
    app.connect("html-page-context", _show_door)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def kind_of(page: str) -> tuple[str, str] | None:
    """Return the door and the kind of a page: ``("use", "Tutorial")``; None for a door itself."""
    for door, kinds in DOORS.items():
        for kind, entries in kinds.items():
            paths = [f"{door}/{entry}" if entry[0] != "/" else entry[1:] for entry in entries]
            folders = [path.removesuffix("index") + "*" for path in paths if path in _TREES]
            if any(fnmatch(page, pattern) for pattern in (*paths, *folders)):
                return door, kind
    return None


def _append(_app: Sphinx, page: str, content: list[str]) -> None:
    if page in _TREES:
        entries = "\n".join(_TREES[page])
        content[0] += f"\n\n```{{toctree}}\n:hidden:\n:glob:\n\n{entries}\n```\n"


def _show_door(
    _app: Sphinx, page: str, _template: str, context: dict[str, Any], _doctree: object
) -> None:
    """Give the template of a page its door."""
    if position := kind_of(page):
        door, kind = position
        context["door"] = {"page": f"{door}/index", "title": door.capitalize(), "kind": kind}
