"""A reader in a process of its own: looks up on a store until told to end, and says what it met.

``python -m tests.store.reading STORE ANSWERS STOP``: ANSWERS is JSON, a list of answers for
each address, one for each generation; STOP is a file whose coming ends it. The reader makes the
file STOP.PID when it has met five generations. Prints JSON.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import geolookup
from tests.store.numbered import ADDRESSES


class Reader:
    def __init__(self, engine: geolookup.Engine, good: dict[str, set[bytes]]) -> None:
        self._engine, self._good = engine, good
        self.lookups = self.mixed = 0
        self.met: set[str] = set()

    def look(self) -> None:
        for ip in ADDRESSES:
            self.mixed += self._engine.lookup_json(ip, at=0) not in self._good[ip]
            text = json.dumps(self._engine.lookup(ip, at=0), separators=(",", ":"))
            self.mixed += text.encode() not in self._good[ip]
            self.lookups += 2
        self.met.add(self._engine.generation)
        time.sleep(0.002)  # two cores are to be left some room for the changes


def resident() -> int:
    return int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1]) * 4096


def descriptors() -> int:
    """Return how many files this process has open, besides the one that it takes to count."""
    return sum(1 for _ in Path("/proc/self/fd").iterdir()) - 1


def main(store: str, answers: str, stop: str) -> dict[str, Any]:
    good = {ip: {text.encode() for text in item} for ip, item in json.loads(answers).items()}
    sys.setswitchinterval(1e-5)  # the watching thread need not wait for long
    gc.disable()  # an old generation must go with its last reader, not when cycles are looked for
    with geolookup.open(store, watch=0.002) as engine:
        reader, settled = Reader(engine, good), (0, 0)
        met_enough = Path(f"{stop}.{os.getpid()}")
        print("ready", flush=True)
        while not Path(stop).exists():
            reader.look()
            if not settled[0] and len(reader.met) >= 4:
                settled = resident(), descriptors()
            if not met_enough.exists() and len(reader.met) > 4:
                met_enough.touch()
        ended = resident(), descriptors()
    return {
        "lookups": reader.lookups,
        "mixed": reader.mixed,
        "met": len(reader.met),
        "grown": ended[0] - settled[0],
        "descriptors": [settled[1], ended[1]],
    }


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
