"""What an export says of its origin: generation, sources and their licences."""

from __future__ import annotations

from typing import Any

from geolookup.dataset.files import Dataset

#: What is said of a source.
_SOURCE = ("name", "date", "licence", "attribution", "url")


def origin(dataset: Dataset) -> dict[str, Any]:
    """Return the dataset's name and generation, and its sources and credits, null if unknown."""
    about = dataset.manifest.metadata()
    sources = [{name: getattr(each, name) for name in _SOURCE} for each in about.sources]
    credits_ = [{name: each.get(name) for name in _SOURCE} for each in about.credits]
    return {"name": about.name, "generation": about.generation, "sources": [*sources, *credits_]}


def add_origin_tables(database: Any, dataset: Dataset) -> None:
    """Write the tables ``dataset`` and ``source`` through a connection to SQLite or DuckDB."""
    about = origin(dataset)
    database.execute("create table dataset (name text, generation text)")
    database.execute("insert into dataset values (?, ?)", (about["name"], about["generation"]))
    database.execute(f"create table source ({', '.join(f'{each} text' for each in _SOURCE)})")
    marks = ", ".join("?" for _ in _SOURCE)
    for each in about["sources"]:
        database.execute(f"insert into source values ({marks})", list(each.values()))  # noqa: S608
