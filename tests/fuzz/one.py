"""One target under atheris, in a process of its own; see ``python -m tests.fuzz``.

``python -m tests.fuzz.one NAME SECONDS FOUND [libFuzzer's options]`` prints how many inputs were
run; the status is 1 where one was found, which is then in the folder FOUND.
"""

from __future__ import annotations

import hashlib
import os
import random
import sys
import traceback
from pathlib import Path
from time import monotonic
from typing import NoReturn

import atheris


def main(name: str, seconds: int, found: Path, options: list[str]) -> None:
    with atheris.instrument_imports(include=["geolookup_builder", "geolookup"]):
        from tests.fuzz.targets import TARGETS
    target, end, inputs = TARGETS[name], monotonic() + seconds, 0

    def run(data: bytes) -> None:
        nonlocal inputs
        inputs += 1
        try:
            target.run(data)
        except Exception:  # noqa: BLE001 - whatever it is, it is a finding
            digest = hashlib.sha256(data).hexdigest()
            (found / f"{name}-{digest[:20]}").write_bytes(data)
            traceback.print_exc()
            _end(inputs, 1)
        if monotonic() > end:
            _end(inputs, 0)

    def mutate(data: bytes, size: int, seed: int) -> bytes:
        def change(part: bytes) -> bytes:
            changed: bytes = atheris.Mutate(part, max(len(part), size - len(data) + len(part)))
            return changed

        return target.mutate(data, change, random.Random(seed))[:size]

    atheris.Setup([sys.argv[0], *options], run, custom_mutator=mutate)
    atheris.Fuzz()


def _end(inputs: int, status: int) -> NoReturn:
    """End at once: libFuzzer waits for Arrow's threads, which may wait for the interpreter."""
    print(f"{inputs} inputs", flush=True)
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]), sys.argv[4:])
