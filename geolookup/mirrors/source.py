"""The files of a mirror, fetched into a folder: over https, from a bucket, or from a folder.

::

    FOLDER/index/       the last accepted index, with its ETag
    FOLDER/archives/    the archive that is being fetched; a partial one is resumed

Both are caches of ``geolookup.remote``: it retries, resumes and limits downloads. A mirror in a
folder is read in place.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from geolookup.errors import BuildError, DownloadError, MirrorError
from geolookup.filesystem import open_regular
from geolookup.mirrors.index import ARCHIVES, INDEX, File
from geolookup.progress import current
from geolookup.remote import Limits
from geolookup.remote.address import Remote, location, without_secrets
from geolookup.remote.cache import sha256_of
from geolookup.remote.transfer import fetch
from geolookup.signing.envelope import LARGEST_ENVELOPE

_KINDS = "name a mirror by https://, s3:// or gs://, or a folder of this machine"
_AGAIN = "check the address, or try again later"
#: The longest wait within a poll, in seconds. For a longer one that a server asks for, it ends.
_LONGEST_WAIT = 10.0


def is_mirror(name: str) -> bool:
    """Return whether a name is the address of a mirror, or the path of one on this machine."""
    folder = Path(name.removesuffix(INDEX))
    return "://" in name or ((folder / INDEX).is_file() and (folder / ARCHIVES).is_dir())


@dataclass(frozen=True, slots=True)
class Mirror:
    """The mirror at ``url``, the address of its folder or of its index.

    ``limit_rate`` is the maximum rate of a download in bytes a second; None: no limit.
    """

    url: str
    limit_rate: int | None = None

    @property
    def safe_url(self) -> str:
        """The address for messages, without its query: that may be secret."""
        return without_secrets(self.url) if "://" in self.url else self.url

    def location(self, path: str = INDEX) -> str | Remote:
        """Return where a file of the mirror is; MirrorError if no mirror can have the address."""
        is_uri = "://" in self.url
        # https://host/m/index.json?token=x -> https://host/m/archives/...?token=x
        address, mark, query = self.url.partition("?") if is_uri else (self.url, "", "")
        folder = address.removesuffix(INDEX).removesuffix("/")
        try:
            return location(Path(INDEX), f"{folder}/{path}{mark}{query}", {}, insecure=False)
        except BuildError as error:
            problem = f"not the address of a mirror ({error.problem})"
            raise MirrorError(self.safe_url, problem, _KINDS) from None

    def fetch_index(self, cache: Path) -> tuple[Path, int]:
        """Return the file of the present index, and how many bytes of it were fetched.

        The request names the ETag or date of the last index. Raises MirrorError.
        """
        return self._fetch(INDEX, "", LARGEST_ENVELOPE, cache / "index", attempts=3)

    def fetch_archive(self, file: File, cache: Path) -> Path:
        """Return a file that the index names, with the digest that it states; MirrorError if not.

        Downloads of other files are removed.
        """
        return self._fetch(file.path, file.sha256, file.bytes, cache / ARCHIVES, attempts=6)[0]

    def _fetch(
        self, path: str, sha256: str, largest: int, cache: Path, *, attempts: int
    ) -> tuple[Path, int]:
        remote = self.location(path)
        limits = Limits(
            attempts=attempts, longest_wait=_LONGEST_WAIT, largest=largest, fastest=self.limit_rate
        )
        with self._errors():
            if isinstance(remote, str):
                return _local(Path(remote), sha256, largest), 0
            _keep_only(cache, f"{remote.file}-{remote.identity}")
            fetched = fetch(remote, sha256, cache, current(), limits)
            return fetched.file.path, fetched.file.bytes if fetched.changed else 0

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Turn failures of a download or of a read into a MirrorError."""
        try:
            yield
        except BuildError as error:
            wait = error.wait if isinstance(error, DownloadError) else None
            raise MirrorError(error.path, error.problem, _AGAIN, wait=wait) from error
        except OSError as error:  # of a folder of this machine
            path = error.filename or self.url
            problem = f"cannot be read ({error.strerror or error})"
            raise MirrorError(path, problem, _AGAIN) from error


def forget(cache: Path, name: str) -> None:
    """Remove the "archives", or the "index" with its ETag: the next poll then fetches it."""
    shutil.rmtree(cache / name, ignore_errors=True)


def _local(path: Path, sha256: str, largest: int) -> Path:
    """Return a file of a folder, if it has the stated digest."""
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
    if size > largest:
        raise MirrorError(path, f"the file is larger than {largest:,} bytes", _AGAIN)
    if sha256 and (digest := sha256_of(path)) != sha256:
        problem = f"the SHA-256 of the file is {digest}, but {sha256} is expected"
        raise MirrorError(path, problem, _AGAIN)
    return path


def _keep_only(cache: Path, name: str) -> None:
    """Remove all but one entry of a cache: files of former addresses."""
    for folder in cache.iterdir() if cache.is_dir() else ():
        if folder.name != name:
            shutil.rmtree(folder, ignore_errors=True)
