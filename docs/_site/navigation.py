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
        "How-to": [
            "python",
            "answers",
            "how-to/command-line",
            "how-to/flask",
            "how-to/fastapi",
            "how-to/django",
            "how-to/logging",
            "tables/arrow",
            "how-to/data-warehouse",
            "how-to/own-dataset",
            "updating",
            "how-to/production",
            "operations",
            "how-to/proxies",
            "how-to/privacy",
            "how-to/*",
            "diff",
            "verify",
        ],
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
            "http",
            "gate",
            "recipe",
            "sources/index",
            "download",
        ],
        "Explanation": [
            "explanation/architecture",
            "format",
            "explanation/bundled-data",
            "score",
            "benchmarks",
            "SECURITY",
            "licences",
            "explanation/contributing",
            "explanation/changes",
        ],
    },
    "sources/index": {"": ["auto", "*"]},
    "tables/arrow": {"": ["pandas", "polars", "duckdb", "spark", "dask", "files"]},
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
