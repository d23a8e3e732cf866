"""One target under atheris, in a process of its own: libFuzzer ends the process itself.

``python -m tests.fuzz.one NAME [libFuzzer's options]``; see ``python -m tests.fuzz``.
"""

from __future__ import annotations

import random
import sys

import atheris


def main(name: str, options: list[str]) -> None:
    with atheris.instrument_imports(include=["builder", "geolookup"]):
        from tests.fuzz.targets import TARGETS
    target = TARGETS[name]

    def mutate(data: bytes, size: int, seed: int) -> bytes:
        def change(part: bytes) -> bytes:
            found: bytes = atheris.Mutate(part, max(len(part), size - len(data) + len(part)))
            return found

        return target.mutate(data, change, random.Random(seed))[:size]

    atheris.Setup([sys.argv[0], *options], target.run, custom_mutator=mutate)
    atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
