"""Verification of a dataset: every byte by its digest, and the structure that lookups rely on.

Strategy: each step relies on the steps before it. First the manifest and its signature, then the
bytes of the files, then the layout of columns, then the columns together. A step yields all
damages that it finds; the next step runs only without damage.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from geolookup.dataset.arrow_files import generation
from geolookup.dataset.digests import wrong_files
from geolookup.dataset.manifest import read_manifest
from geolookup.errors import DatasetError
from geolookup.integrity.structure import structure
from geolookup.integrity.tables import DatasetTables, damage, load
from geolookup.progress import stage
from geolookup.signing.keys import PublicKey
from geolookup.signing.statement import SIGNATURE, read_signature, read_statement
from geolookup.signing.trust import Trust, TrustedKeys, read_trusted_keys

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


def verify(
    dataset: str | os.PathLike[str] | None = None, *, trusted_keys: TrustedKeys | None = None
) -> Report:
    """Read every byte of a dataset and return its report; DatasetError for damage.

    ``dataset`` is what ``geolookup.open`` accepts; of a store its current generation is read.
    Checks the canonical manifest, sizes and digests, the layout of all columns, the order of
    intervals, row numbers, the number of JSON texts of each row, and the generation id, computed
    again from the content.
    ``trusted_keys`` is the file of a public key, or several: then one of them must have signed the
    dataset (``geolookup.sign``). The report has ``files`` (their number), ``bytes`` (of all files
    but the manifest), ``generation``, and an empty ``damages``. Raises DatasetError for the first
    damage or a missing dataset, KeyFileError for a file that is not a public key, ValueError for
    an empty sequence of keys; ``geolookup.integrity.examine`` returns up to a number of damages
    instead.
    """
    report = examine(dataset, limit=1, trusted_keys=trusted_keys)
    for first in report.damages:
        raise first
    return report


def examine(
    path: str | os.PathLike[str] | None,
    *,
    limit: int = 20,
    trusted_keys: TrustedKeys | None = None,
) -> Report:
    """Return the report of a dataset, with at most ``limit`` damages; see ``verify``."""
    from geolookup.store import resolve  # a room below, where datasets are verified

    keys = read_trusted_keys(trusted_keys)
    try:
        tables = _opened(Path(resolve.folder(path)))
    except DatasetError as error:
        return Report((error,))
    manifest = tables.manifest
    with stage("verifying"):
        damages = tuple(islice(_damages(tables, keys), limit))
    text = b"" if damages else manifest.canonical()
    return Report(
        damages, len(manifest.files), manifest.metadata().bytes, manifest.generation, text
    )


def read_tables(folder: Path) -> DatasetTables:
    """Map the files of a dataset as arrays; DatasetError for the first damage."""
    tables = _opened(folder)
    for first in _damages(tables, ()):
        raise first
    return tables


def _opened(folder: Path) -> DatasetTables:
    manifest = read_manifest(folder)
    manifest.check()
    return DatasetTables(folder, manifest, {})


def _damages(tables: DatasetTables, keys: Sequence[PublicKey]) -> Iterator[DatasetError]:
    """Yield the damages of the first step that finds any; later steps rely on it."""
    steps = [_signature(tables, keys), _digests(tables), _canonical(tables), load(tables)]
    for step in (*steps, structure(tables), _generation(tables)):
        is_whole = True
        for found in step:
            is_whole = False
            yield found
        if not is_whole:
            return
        tables.release()


def _signature(tables: DatasetTables, trusted: Sequence[PublicKey]) -> Iterator[DatasetError]:
    """Yield the damage of ``signature.json``, if any: malformed, or of another manifest.

    With trusted keys one of them must have signed it.
    """
    path = tables.folder / SIGNATURE
    try:
        text, manifest = read_signature(tables.folder), tables.manifest_path.read_bytes()
        if trusted:
            Trust(tuple(trusted)).check(manifest, text, path)
        elif text is not None:
            read_statement(text, manifest, None, path)
    except DatasetError as error:
        yield error


def _digests(tables: DatasetTables) -> Iterator[DatasetError]:
    """Yield the files that are missing, or whose size or digest differs from the manifest."""
    for path, problem in wrong_files(tables.folder, tables.manifest):
        yield damage(path, problem)


def _canonical(tables: DatasetTables) -> Iterator[DatasetError]:
    """Yield an error if the manifest's bytes are not its canonical serialisation."""
    try:
        is_canonical = tables.manifest_path.read_bytes() == tables.manifest.canonical()
    except (ValueError, RecursionError):  # lone surrogates; lists in lists in lists
        is_canonical = False
    if not is_canonical:
        yield damage(tables.manifest_path, "not the canonical form of a manifest")


def _generation(tables: DatasetTables) -> Iterator[DatasetError]:
    """Yield an error if the generation id is not the digest of the columns and the manifest."""
    computed = generation(tables.manifest, tables.batches, tables.release)
    expected = tables.manifest.generation
    if computed != expected:
        problem = f"'generation' is {expected}, but the content gives {computed}"
        yield damage(tables.manifest_path, problem)
