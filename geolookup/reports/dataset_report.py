"""The report of a dataset: which sections it has, in which order."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike
from pathlib import Path

import geolookup
from geolookup.dataset.files import Dataset
from geolookup.reports.files_section import files_section
from geolookup.reports.section import Section


def sections(path: str | PathLike[str]) -> Iterator[Section]:
    """Yield the sections of a dataset, or of a store's current generation."""
    with geolookup.open(path) as engine:
        dataset = Dataset(engine.path)
    yield files_section(Path(dataset.path))
