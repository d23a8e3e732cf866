"""Limits of the size of an unpacked archive, and of the space that a result may take.

Files of ranges compress to a fifteenth, datasets to a quarter. If all rows of a file state the same
values, CSV compresses to a 60th by gzip and a 130th by Zstandard, JSON lines to a 90th and a 170th,
and both to a 110th by xz.
A file beyond both the number of bytes and the ratio is taken for an attack.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from geolookup.errors import OutputError

_BYTES = re.compile(r"([0-9]{1,15})(?: ?([kMGT]?)B)?", re.ASCII)
_UNITS = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
#: Bytes that any compressed file, or all of one source together, may unpack to.
ALLOWED_BYTES = 64 << 20
#: How many times its size a larger compressed file may unpack to.
ALLOWED_RATIO = 200
#: Members of one archive, of any type.
ALLOWED_MEMBERS = 10_000
#: Bytes of the directory of a zip archive, and of one header of a tar archive: both are read whole.
ALLOWED_DIRECTORY = 4 << 20
ALLOWED_HEADER = 1 << 20


def read_bytes(text: str) -> int:
    """Return the bytes of a text such as ``2GB``, ``500MB`` or ``1000000``; else ValueError."""
    match = _BYTES.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a number of bytes such as 500MB or 2GB")
    return int(match[1]) * _UNITS[match[2] or ""]


def allowed_bytes(packed: int) -> int:
    """Return how many bytes so many compressed bytes may unpack to."""
    return max(ALLOWED_BYTES, ALLOWED_RATIO * packed)


def excess() -> str:
    """Return the limit on unpacked bytes as an error states it."""
    return f"unpacks to over {ALLOWED_BYTES:,} bytes and {ALLOWED_RATIO} times its size"


def check_space(output: Path, needed: int) -> None:
    """Raise OutputError unless the disk of ``output`` has so many bytes free."""
    free = free_space(output.parent)
    if needed > free:
        problem = f"needs {needed:,} bytes, but {free:,} are free on its disk"
        raise OutputError(output, problem, "free space, or choose another disk")


def free_space(folder: Path) -> int:
    """Return the bytes that this user may still write on the disk of a folder."""
    return shutil.disk_usage(folder).free
