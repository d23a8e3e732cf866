"""What a copy of a dataset says of its origin: generation, sources and their licences."""

from __future__ import annotations

from typing import Any

from geolookup.dataset.files import Dataset

#: What is said of a source.
SOURCE = ("name", "date", "licence", "attribution", "url")


def origin(dataset: Dataset) -> dict[str, Any]:
    """Return the dataset's name and generation, and its sources and credits, null if unknown."""
    about = dataset.manifest.metadata()
    sources = [{name: getattr(each, name) for name in SOURCE} for each in about.sources]
    credits_ = [{name: each.get(name) for name in SOURCE} for each in about.credits]
    return {"name": about.name, "generation": about.generation, "sources": [*sources, *credits_]}
