"""Looks up addresses in a dataset with the standard library only; ``format.md`` has the format.

``python read_dataset.py DATASET 8.8.8.8`` prints the values of the country, the location and the
network; each table's values are in the order of its ``json`` column.
"""

from __future__ import annotations

import ipaddress
import json
import mmap
import sys
from bisect import bisect_left, bisect_right
from functools import cache
from pathlib import Path
from typing import Any

_INDICES = {"int8": "B", "int16": "H", "int32": "I"}


class Dataset:
    """The mapped files of a dataset."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self._files = json.loads((self._path / "manifest.json").read_bytes())["files"]
        self._starts = self.column("ipv4.arrow", "start", "I")
        self._jump = self.column("ipv4_jump.arrow", "interval", "I")
        self._highs = self.column("ipv6.arrow", "start_high", "Q")
        self._lows = self._decoded("ipv6.arrow", "start_low", "Q")
        self._sparse = self.column("ipv6_fence.arrow", "start_high", "Q")

    @cache  # noqa: B019 - one dataset for the whole process
    def _mapped(self, file: str) -> memoryview:
        with (self._path / file).open("rb") as stream:
            return memoryview(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ))

    def column(self, file: str, name: str, code: Any, buffer: int = 1) -> memoryview[int]:
        """Return a buffer of a column; ``code`` is the type of an item in ``struct``."""
        offset, length = self._files[file]["columns"][name]["buffers"][buffer]
        return self._mapped(file)[offset : offset + length].cast(code)

    def _decoded(self, file: str, name: str, code: Any) -> list[int]:
        described = self._files[file]["columns"][name]
        indices = described["type"].split("indices=")[1].split(",")[0]
        offset, length = described["dictionary"]["buffers"][1]
        values = self._mapped(file)[offset : offset + length].cast(code)
        return [values[index] for index in self.column(file, name, _INDICES[indices])]

    def interval(self, family: int, address: int) -> int:
        """Return the position of the interval that holds an address."""
        return self._ipv4(address) if family == 4 else self._ipv6(address)

    def _ipv4(self, address: int) -> int:
        bits = (len(self._jump) - 1).bit_length() - 1
        bucket = address >> 32 - bits
        begin, end = self._jump[bucket], self._jump[bucket + 1] + 1
        return bisect_right(self._starts, address, begin, end) - 1

    def _ipv6(self, address: int) -> int:
        high, low = divmod(address, 1 << 64)
        first = max(64 * (bisect_left(self._sparse, high) - 1), 0)
        last = min(64 * bisect_right(self._sparse, high), len(self._highs))
        begin = bisect_left(self._highs, high, first, last)
        end = bisect_right(self._highs, high, first, last)
        # Of the intervals that begin in this upper half, or the last one that begins before it.
        return bisect_right(self._lows, low, begin, end) - 1

    def values(self, file: str, row: int) -> list[Any]:
        """Return the values of a row."""
        offsets, texts = self.column(file, "json", "i"), self.column(file, "json", "B", 2)
        text = bytes(texts[offsets[row] : offsets[row + 1]])
        return [json.loads(part) if part else None for part in text.split(b"\n")]

    def answer(self, address: str) -> list[list[Any]]:
        """Return the values of the country, the location and the network of a public address."""
        parsed = ipaddress.ip_address(address)
        file = f"ipv{parsed.version}.arrow"
        interval = self.interval(parsed.version, int(parsed))
        location = self.column(file, "location", "I")[interval]
        rows = {
            "country.arrow": self.column("location.arrow", "country", "H")[location],
            "location.arrow": location,
            "network.arrow": self.column(file, "network", "I")[interval],
        }
        return [self.values(name, row) for name, row in rows.items()]


if __name__ == "__main__":
    for values in Dataset(sys.argv[1]).answer(sys.argv[2]):
        print(json.dumps(values, ensure_ascii=False))
