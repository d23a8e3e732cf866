"""``changed``: a patch for each file in which a dataset differs from its base."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from geolookup.archives.delta.alignment import alignment_text, same_numbers
from geolookup.archives.delta.base import Base, derived
from geolookup.archives.delta.file import File
from geolookup.archives.delta.intervals import aligned
from geolookup.archives.delta.numbers import numbers_text
from geolookup.archives.delta.parts import Numbers
from geolookup.archives.delta.texts import Column, texts_text
from geolookup.dataset.manifest import Manifest, read_manifest
from geolookup.errors import REBUILD, DatasetError


def changed(base: Path, target: Path) -> Iterator[tuple[str, bytes]]:
    """Yield name and patch of each file of ``target`` that ``base`` does not have, by name.

    Both are folders of datasets. A file precedes those that are derived from it. The same
    files give the same patches under one version of geolookup and Arrow. Raises DatasetError
    for files that are not as their manifests say.
    """
    manifests = read_manifest(base), read_manifest(target)
    former, files = (each.files for each in manifests)
    for name, described in sorted(files.items()):
        if name in former and former[name].sha256 == described.sha256:
            continue
        try:
            patch = _patch(base, target, manifests, name)
        except (OSError, ValueError) as error:  # the base classes of Arrow's errors, and PatchError
            problem = f"{name} differs from its manifest here or in {base} ({error})"
            raise DatasetError(target, problem, REBUILD) from error
        yield name, patch


def _patch(base: Path, target: Path, manifests: tuple[Manifest, Manifest], name: str) -> bytes:
    """Write alignment, parts and frame, in the order in which ``applied`` reads them."""
    former = File.opened(base / name, manifests[0].file(name))
    file = File.opened(target / name, manifests[1].file(name))
    rows = aligned(base / name, target / name, former.parts.rows, file.parts.rows)
    against = Base(former, rows, derived(target, manifests[1], name))
    found = [alignment_text(rows)]
    for column, part in file.parts.named.items():
        if isinstance(part, Numbers):
            found.append(numbers_text(part.of(file.whole), *against.numbers(column, part)))
        else:
            texts = Column.of(part, file.whole)
            found.append(texts_text(texts, *against.texts(column, part)))
    frames = former.frame(), file.frame()
    found.append(numbers_text(frames[1], frames[0], same_numbers(*map(len, frames))))
    return b"".join(found)
