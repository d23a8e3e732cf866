"""The navigation of the site: four doors, and in each its pages by kind, in order.

A page that no entry names is a warning, and the build fails. ``*`` matches the other pages of a
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

TUTORIAL, GUIDE, REFERENCE, EXPLANATION = "Tutorial", "How-to guide", "Reference", "Explanation"
#: By door: the pages of each kind.
DOORS: dict[str, dict[str, list[str]]] = {
    "use": {
        TUTORIAL: ["tutorial"],
        GUIDE: [
            *("python", "shell"),
            *("flask", "fastapi", "django", "proxies", "logging"),
            *("pandas", "polars", "duckdb", "arrow", "spark", "dask", "data-warehouse"),
            *("files", "logs", "text", "prefixes", "firewalls"),
            "from-*",
        ],
        EXPLANATION: ["privacy"],
    },
    "data": {
        TUTORIAL: ["tutorial"],
        GUIDE: [
            *("download", "updating", "verify", "diff", "score", "reports"),
            *("plain-files", "databases", "mmdb-export"),
        ],
        REFERENCE: ["recipe", "sources/index"],
        EXPLANATION: ["bundled-dataset"],
    },
    "operate": {
        GUIDE: ["production", "api-keys", "stores", "mirrors", "signing"],
        REFERENCE: ["http"],
        EXPLANATION: ["fleet", "/SECURITY"],
    },
    "reference": {
        REFERENCE: [
            *("python", "engine", "answer", "types", "errors", "integrations"),
            *("commands/index", "contract", "format", "benchmarks", "licences", "changelog"),
        ],
        EXPLANATION: ["architecture", "contributing"],
    },
}
_TREES = {
    "index": [f"{door}/index" for door in DOORS],
    **{f"{door}/index": [*chain(*kinds.values())] for door, kinds in DOORS.items()},
    "data/sources/index": ["auto", "*"],
    "reference/commands/index": ["*"],
}


def setup(app: Sphinx) -> dict[str, bool]:
    """Append its part of the navigation to each page that has one."""
    app.connect("source-read", _append)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _append(_app: Sphinx, page: str, content: list[str]) -> None:
    if page in _TREES:
        entries = "\n".join(_TREES[page])
        content[0] += f"\n\n```{{toctree}}\n:hidden:\n:glob:\n\n{entries}\n```\n"
