"""Verification of a dataset: every byte, the structure, the texts. Nothing in it is trusted.

Strategy: each step checks what the next one relies on. First the manifest, then the bytes of
the files, then each column, then the columns together. A step yields all damages that it
finds; the next step runs only if there were none.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from geolookup.dataset.manifest import Manifest
from geolookup.errors import DatasetError
from geolookup.integrity import files
from geolookup.integrity.coverage import generation, summaries
from geolookup.integrity.sample import sample
from geolookup.integrity.shapes import distinct, shapes
from geolookup.integrity.source_rows import explained, said
from geolookup.integrity.structure import structure
from geolookup.integrity.tables import Tables
from geolookup.integrity.texts import texts


@dataclass(frozen=True, slots=True)
class Report:
    """What was checked, and the damages; none if the dataset is undamaged."""

    damages: tuple[DatasetError, ...]
    files: int = 0
    bytes: int = 0  # of all files but the manifest
    generation: str = ""


def verify(dataset: str | os.PathLike[str], *, deep: bool = False) -> Report:
    """Read every byte of a dataset folder and return its report; DatasetError for damage.

    Checks the canonical manifest, sizes and digests, the layout of all columns, the
    order of intervals, and row numbers. ``deep`` adds slower checks: JSON texts,
    checksums, coverage, the generation id, and a sample of lookups compared with the
    columns. The report has ``files`` (their number), ``bytes`` (of all files but the
    manifest), ``generation``, and ``damages``, which is empty. Raises DatasetError for
    the first damage, or where there is no dataset; ``geolookup.integrity.examine``
    returns up to a number of damages instead.
    """
    report = examine(dataset, deep=deep, limit=1)
    for damage in report.damages:
        raise damage
    return report


def examine(path: str | os.PathLike[str], *, deep: bool = False, limit: int = 20) -> Report:
    """Return the report of a dataset, with at most ``limit`` damages; see ``verify``."""
    folder = Path(path)
    try:
        manifest = files.manifest_of(folder)
    except DatasetError as error:
        return Report((error,))
    found = tuple(islice(_damages(folder, manifest, deep=deep), limit))
    size = manifest.metadata().bytes
    return Report(found, len(manifest.files), size, manifest.generation)


def _damages(folder: Path, manifest: Manifest, *, deep: bool) -> Iterator[DatasetError]:
    """Yield the damages of the first step that finds any; later steps rely on it."""
    tables = Tables(folder, manifest, {})
    steps = [files.digests(folder, manifest), files.form(tables), files.load(tables)]
    steps += [shapes(tables), structure(tables)]
    if manifest.explains_rows:
        steps.append(explained(tables))
    if deep:
        steps += [
            distinct(tables),
            texts(tables),
            *([said(tables)] if manifest.explains_rows else []),
        ]
        steps += [summaries(tables), generation(tables), sample(tables)]
    for step in steps:
        whole = True
        for damage in step:
            whole = False
            yield damage
        if not whole:
            return
