"""``unpack``: a dataset from an archive, whole or a delta.

Strategy: the head of the archive comes first, and with it the signature. Only then are files
written, to a staging directory, which is renamed into place if all sizes and digests are right and
``verify`` finds no damage.
"""

from __future__ import annotations

import os
from pathlib import Path

from geolookup.archives.base import base_folder
from geolookup.archives.extract import extract
from geolookup.archives.head import open_archive
from geolookup.dataset.manifest import is_dataset
from geolookup.filesystem import atomic
from geolookup.signing.trust import Trust, Trusted, trusted_keys

_WHOLE = "name its base with --base, or unpack an archive of the whole dataset"


def unpack(
    archive: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    base: str | os.PathLike[str] | None = None,
    trusted: Trusted | None = None,
    force: bool = False,
) -> None:
    """Write the dataset of an archive to the folder ``output``, and verify it.

    A delta needs ``base``: the dataset that it was packed against, or a store that has that
    generation. The result is the dataset that was packed, byte by byte. With ``trusted`` (the file
    of a public key, or several; needs the extra ``sign``) one of these keys must have signed the
    dataset, which is checked before a file is written. With ``force`` an existing dataset is
    replaced. Raises DatasetError for an archive that is missing, damaged, not trusted, or not
    written by ``pack``, for a base that is missing, damaged or another one, and for a dataset
    that ``verify`` refuses; KeyFileError for a bad key, ValueError for an empty sequence of keys;
    OutputError for a folder that exists or cannot be written. On an error ``output`` does not
    change.
    """
    archive, output = Path(archive), Path(output)
    atomic.check_folder(output, force=force, replaceable=is_dataset)
    trust = None if trusted is None else Trust(trusted_keys(trusted))
    with open_archive(archive) as (head, members):
        if trust is not None:
            trust.check(head.manifest_text, head.signature, archive)
        found = None
        if head.header is not None:
            found = base_folder(head.header, base, archive, _WHOLE)
        with atomic.staged_folder(output) as folder:
            extract(head, members, folder, found, copy=True)
