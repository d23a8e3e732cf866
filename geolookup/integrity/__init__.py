"""Verification of a dataset: every byte, the structure, the texts. Nothing in it is trusted.

Strategy: each step relies on the steps before it. First the manifest and its signature, then the
bytes of the files, then each column, then the columns together. A step yields all damages that it
finds; the next step runs only without damage.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path

from geolookup.dataset.manifest import Manifest
from geolookup.errors import DatasetError
from geolookup.integrity import files
from geolookup.integrity.files import generation, summaries
from geolookup.integrity.sample import sample
from geolookup.integrity.structure import known_zones, structure
from geolookup.integrity.tables import Tables, distinct, shapes
from geolookup.integrity.texts import texts
from geolookup.signing.keys import PublicKey
from geolookup.signing.trust import TrustedKeys, read_trusted_keys

_Text = bytes  # ``Report.bytes`` hides the name


@dataclass(frozen=True, slots=True)
class Report:
    """The counts of a check, and the damages; none if the dataset is undamaged."""

    damages: tuple[DatasetError, ...]
    files: int = 0
    bytes: int = 0  # of all files but the manifest
    generation: str = ""
    #: The text that was read: the file may change later. Empty if the dataset is damaged.
    manifest_text: _Text = field(default=b"", repr=False)


class VerifiedDataset:
    """A dataset that was verified: only its constructor makes one, and the constructor verifies.

    Functions that publish take it as proof, and do not verify again. ``path_of`` makes the path of
    a file in errors from its name; the default is its path in ``folder``. Raises DatasetError
    for the first damage.
    """

    __slots__ = ("folder", "generation")

    def __init__(self, folder: Path, path_of: Callable[[str], str | Path] | None = None) -> None:
        try:
            self.folder, self.generation = folder, verify(folder).generation
        except DatasetError as error:
            if path_of is None:
                raise
            name = str(Path(error.path).relative_to(folder))
            raise DatasetError(path_of(name), error.problem, error.remedy) from error

    def move_to(self, folder: Path) -> VerifiedDataset:
        """Rename the files into another folder of the disk; the bytes stay verified."""
        for path in self.folder.iterdir():
            path.rename(folder / path.name)
        return self.with_folder(folder)

    def with_folder(self, folder: Path) -> VerifiedDataset:
        """Return this dataset under the name that its folder has been given."""
        renamed = copy(self)
        renamed.folder = folder
        return renamed


def read_tables(folder: Path) -> Tables:
    """Map the files of a dataset as arrays; DatasetError unless bytes and structure are undamaged.

    Texts of rows and the generation id are not compared with the columns.
    """
    tables = Tables(folder, files.manifest_of(folder), {})
    steps = [files.digests(folder, tables.manifest), files.form(tables), files.load(tables)]
    for damage in chain(*steps, shapes(tables), structure(tables)):
        raise damage
    return tables


def verify(
    dataset: str | os.PathLike[str] | None = None,
    *,
    deep: bool = False,
    trusted_keys: TrustedKeys | None = None,
) -> Report:
    """Read every byte of a dataset and return its report; DatasetError for damage.

    ``dataset`` is what ``geolookup.open`` accepts; of a store its current generation is read.
    Checks the canonical manifest, sizes and digests, the layout of all columns, the
    order of intervals, row numbers, the type and range of values, the number of JSON texts
    of a row, and the generation id, computed again from the content. ``deep``
    adds slower checks: coverage, the names of time zones, and a sample of lookups
    compared with the columns. ``trusted_keys`` is the file of a public key, or several: then one of
    them must have signed the dataset (``geolookup.sign``). The report has ``files`` (their
    number), ``bytes`` (of all files but the manifest), ``generation``, and an empty
    ``damages``. Raises DatasetError for the first damage or a missing dataset, KeyFileError for
    a file that is not a public key, ValueError for an empty sequence of keys;
    ``geolookup.integrity.examine`` returns up to a number of damages instead.
    """
    report = examine(dataset, deep=deep, limit=1, trusted_keys=trusted_keys)
    for damage in report.damages:
        raise damage
    return report


def examine(
    path: str | os.PathLike[str] | None,
    *,
    deep: bool = False,
    limit: int = 20,
    trusted_keys: TrustedKeys | None = None,
) -> Report:
    """Return the report of a dataset, with at most ``limit`` damages; see ``verify``."""
    from geolookup.store import resolve  # a room below, where datasets are verified

    keys = read_trusted_keys(trusted_keys)
    try:
        folder = Path(resolve.folder(path))
        manifest = files.manifest_of(folder)
    except DatasetError as error:
        return Report((error,))
    damages = tuple(islice(_damages(folder, manifest, keys, deep=deep), limit))
    size = manifest.metadata().bytes
    text = b"" if damages else manifest.canonical()
    return Report(damages, len(manifest.files), size, manifest.generation, text)


def _damages(
    folder: Path, manifest: Manifest, keys: tuple[PublicKey, ...], *, deep: bool
) -> Iterator[DatasetError]:
    """Yield the damages of the first step that finds any; later steps rely on it."""
    tables = Tables(folder, manifest, {})
    steps = [files.signature(folder, keys), files.digests(folder, manifest)]
    steps += [files.form(tables), files.load(tables)]
    steps += [shapes(tables), structure(tables)]
    # The id comes after the texts: they bound the decoded dictionaries.
    steps += [texts(tables), generation(tables)]
    if deep:
        steps += [distinct(tables), known_zones(tables), summaries(tables), sample(tables)]
    for step in steps:
        whole = True
        for damage in step:
            whole = False
            yield damage
        if not whole:
            return
        tables.release()
