"""``delta.json``, the first member of a delta archive: which base it needs, and what it makes.

::

    {"format": "geolookup-delta", "format_version": 1,
     "base": "ID", "generation": "ID", "files": {"NAME": "SHA-256 of this file of the base"}}

``files`` lists the files that base and target both have: those that a patch reads, and those that
are the same in both.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from geolookup.dataset import layout as fmt
from geolookup.dataset.manifest import is_generation
from geolookup.errors import DatasetError

DELTA = "delta.json"
#: Bytes; a header lists at most the files of a dataset.
LARGEST_HEADER = 1 << 16
_FORMAT, _VERSION = "geolookup-delta", 1
_AGAIN = "fetch it again"


@dataclass(frozen=True, slots=True)
class Header:
    """The base generation of a delta, the generation that it makes, and files of the base."""

    base: str
    target: str
    files: Mapping[str, str]  # name: SHA-256, in hexadecimal digits

    def text(self) -> bytes:
        """Return the content of ``delta.json``."""
        stated = {
            "format": _FORMAT,
            "format_version": _VERSION,
            "base": self.base,
            "generation": self.target,
            "files": dict(sorted(self.files.items())),
        }
        return (json.dumps(stated, indent=1) + "\n").encode()


def parsed_header(text: bytes, archive: str | os.PathLike[str]) -> Header:
    """Return the header that a text is; DatasetError, which names the archive, for any other."""
    try:
        stated = json.loads(text)
        is_delta, version = stated["format"] == _FORMAT, stated["format_version"]
        header = Header(stated["base"], stated["generation"], stated["files"])
    except (TypeError, KeyError, ValueError, RecursionError):
        raise _damaged(archive) from None
    if is_delta and type(version) is int and version != _VERSION:
        problem = f"a delta of format version {version}, but this geolookup reads {_VERSION}"
        raise DatasetError(archive, problem, "use the version of geolookup that packed it")
    if not is_delta or type(version) is not int or not _is_complete(header):
        raise _damaged(archive)
    return header


def _is_complete(header: Header) -> bool:
    files: Any = header.files
    return (
        is_generation(header.base)
        and is_generation(header.target)
        and isinstance(files, dict)
        and files.keys() <= {*fmt.FILES, *fmt.EXPLAINING}
        and all(map(is_generation, files.values()))  # a SHA-256 too
    )


def _damaged(archive: str | os.PathLike[str]) -> DatasetError:
    return DatasetError(archive, f"{DELTA} is damaged", _AGAIN)
