"""``geolookup lookup`` on standard input: how many addresses a second it answers on one core."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryFile

#: Repetitions of the addresses: with so many, the start of the process does not decide.
REPEATED = 10


def rate(dataset: Path, addresses: list[str], rounds: int) -> float:
    """Return addresses a second, without the start of the process, measured with one address."""
    few = min(_seconds(dataset, addresses[:1]) for _ in range(rounds))
    many = min(_seconds(dataset, addresses * REPEATED) for _ in range(rounds))
    return len(addresses) * REPEATED / (many - few)


def _seconds(dataset: Path, addresses: list[str]) -> float:
    command = [sys.executable, "-m", "geolookup", "lookup"]
    with TemporaryFile() as source:
        source.write("".join(f"{address}\n" for address in addresses).encode())
        source.seek(0)
        began = time.perf_counter()
        subprocess.run(
            [*command, "--dataset", str(dataset)],
            check=True,
            stdin=source,
            stdout=subprocess.DEVNULL,
            env={**os.environ, "GEOLOOKUP_AGE_NOTICE": "0"},
        )
        return time.perf_counter() - began
