"""``unpack``: the dataset of an archive as a folder.

Strategy: the head of the archive comes first, and with it the signature. Only then are files
written, to a staging directory. It is renamed into place if all sizes and digests are right and
``verify`` finds no damage.
"""

from __future__ import annotations

import os
from pathlib import Path

from geolookup.archives.extract import extract
from geolookup.archives.head import open_archive
from geolookup.dataset.manifest import is_dataset
from geolookup.filesystem import atomic
from geolookup.filesystem.ownership import FOLDER_MODE
from geolookup.signing.trust import Trust, TrustedKeys, read_trusted_keys


def unpack(
    archive: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    trusted_keys: TrustedKeys | None = None,
    force: bool = False,
) -> None:
    """Write the dataset of an archive to the folder ``output``, and verify it.

    The result is the dataset that was packed, byte by byte. With ``trusted_keys`` (the file of a
    public key, or several; needs the extra ``sign``) one of these keys must have signed the
    dataset. The signature is checked before a file is written. With ``force`` an existing dataset
    is replaced. Raises DatasetError for an archive that is missing, damaged, not trusted, of
    another format version, or not written by ``pack``, and for a dataset that ``verify`` refuses;
    KeyFileError for a bad key, ValueError for an empty sequence of keys; OutputError for a folder
    that exists or cannot be written. On an error ``output`` does not change.
    """
    archive, output = Path(archive), Path(output)
    atomic.check_folder(output, force=force, replaceable=is_dataset)
    trust = None if trusted_keys is None else Trust(read_trusted_keys(trusted_keys))
    with open_archive(archive) as (head, members):
        if trust is not None:
            trust.check(head.manifest_text, head.signature, archive)
        with atomic.staged_folder(output, FOLDER_MODE, force=force) as folder:
            extract(head, members, folder)
