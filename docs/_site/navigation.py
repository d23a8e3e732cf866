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
            "how-to/firewalls",
