"""The navigation of the site: which pages stand under which heading, in which order.

A page that no entry names is a warning, and the build fails. ``*`` stands for the rest of a folder.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

#: By page: the headings of its part of the navigation, and the pages under each.
NAVIGATION: dict[str, dict[str, list[str]]] = {
    "index": {
        "Start": ["index", "tutorial"],
        "Python and shell": [
            "python",
            "answers",
            "how-to/command-line",
            "how-to/completion",
        ],
        "Frameworks and logs": [
            "how-to/flask",
            "how-to/fastapi",
            "how-to/django",
            "how-to/proxies",
            "how-to/logging",
        ],
        "Tables and files": [
            "tables/arrow",
            "tables/pandas",
            "tables/polars",
            "tables/duckdb",
            "tables/spark",
            "tables/dask",
            "tables/files",
            "how-to/logs",
            "how-to/inline",
            "how-to/data-warehouse",
        ],
        "Lists and exports": [
            "how-to/prefixes",
            "how-to/firewalls",
            "how-to/plain-files",
            "how-to/databases",
            "how-to/mmdb-export",
        ],
        "Data": [
            "how-to/own-dataset",
            "updating",
            "verify",
            "signing",
            "diff",
            "score",
            "how-to/reports",
        ],
        "Service and operation": [
            "http",
            "gate",
            "how-to/production",
            "operations",
            "how-to/edges",
            "mirror",
            "fleet",
        ],
        "Migration": ["how-to/from-*"],
        "Reference": [
            "reference/python",
            "reference/engine",
            "reference/answer",
            "reference/types",
            "reference/errors",
            "reference/integrations",
            "commands",
            "reference/commands",
            "contract",
            "recipe",
            "sources/index",
            "download",
            "format",
        ],
        "Explanation": [
            "explanation/architecture",
            "explanation/bundled-data",
            "benchmarks",
            "how-to/privacy",
            "SECURITY",
        ],
        "Project": ["explanation/contributing", "explanation/changes", "licences"],
    },
    "sources/index": {"": ["auto", "*"]},
}


def setup(app: Sphinx) -> dict[str, bool]:
    """Append its part of the navigation to each page that has one."""
    app.connect("source-read", _append)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _append(_app: Sphinx, page: str, content: list[str]) -> None:
    for heading, pages in NAVIGATION.get(page, {}).items():
        entries = "\n".join("self" if entry == page else entry for entry in pages)
        options = f":hidden:\n:glob:\n:caption: {heading}" if heading else ":hidden:\n:glob:"
        content[0] += f"\n\n```{{toctree}}\n{options}\n\n{entries}\n```\n"
