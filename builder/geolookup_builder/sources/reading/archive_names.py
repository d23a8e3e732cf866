"""Which members of an archive hold data, by their names."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, TypeVar

from geolookup.errors import BuildError

Opener = Callable[[], AbstractContextManager[Any]]
#: Files of an archive that hold no data: resource forks of macOS, licences, instructions.
_NO_DATA = re.compile(
    r"(?:^|/)(?:__MACOSX/|\._|(?:readme|licen[cs]e|copyright)[^/]*\.(?:txt|md)$)", re.IGNORECASE
)
UNPACK = "unpack the archive before the build"
_Key = TypeVar("_Key")


def holds_no_data(name: str) -> bool:
    """Return whether a name is that of a licence, an instruction or a resource fork."""
    return _NO_DATA.search(name) is not None


def is_data(name: str, suffixes: tuple[str, ...]) -> bool:
    """Return whether a member holds data: it has one of the suffixes and is no licence."""
    return name.lower().endswith(suffixes) and not holds_no_data(name)


def data(path: Path, suffixes: tuple[str, ...], names: Mapping[_Key, str]) -> list[_Key]:
    """Return the keys of the names that are data files; BuildError if there is none."""
    found = [key for key, name in names.items() if is_data(name, suffixes)]
    if not found:
        listed = " or ".join(filter(None, suffixes))  # an empty suffix is that of any file
        problem = f"no {listed} file in the archive" if listed else "no file in the archive"
        raise BuildError(path, problem, remedy="name another file")
    return found


def link_error(label: str) -> BuildError:
    """Return the error for a data file of an archive that is a link, a device, a FIFO or sparse."""
    return BuildError(label, "not a regular file", remedy=UNPACK)
