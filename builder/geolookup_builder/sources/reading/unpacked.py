"""How large a packed file may become: a stream that ends a build where it is a bomb.

Real range files shrink to a tenth, lists of one long pattern to a fiftieth. A file that
grows beyond both limits below was made to fill memory or time.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import IO

from geolookup.errors import BuildError

#: What any packed file may unpack to, in bytes.
ALWAYS = 1 << 30
#: How many times its packed size a larger file may unpack to.
MOST_TIMES = 200


class Unpacked(io.RawIOBase):
    """The unpacked bytes of the file at ``path``; BuildError where they are too many."""

    def __init__(self, stream: IO[bytes], path: Path) -> None:
        super().__init__()
        self._stream, self._path = stream, path
        self._left = max(ALWAYS, MOST_TIMES * path.stat().st_size)

    def readable(self) -> bool:
        """Say that this is for reading."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Read up to ``size`` bytes, fewer only at the end."""
        if size < 0:
            return self.readall() or b""
        data = self._stream.read(min(size, self._left + 1))
        self._left -= len(data)
        if self._left < 0:
            problem = f"unpacks to over {ALWAYS:,} bytes and {MOST_TIMES} times its size"
            remedy = "unpack it yourself if you trust it"
            raise BuildError(self._path, problem, remedy=remedy)
        return data
