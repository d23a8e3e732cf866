"""One target under atheris, in a process of its own; see ``python -m tests.fuzz``.

``python -m tests.fuzz.one NAME SECONDS FOUND PLANTED [libFuzzer's options]`` prints how many inputs
were run; the status is 1 where one was found, which is then in the folder FOUND. PLANTED is 1
where the planted bug is to be found, else 0.
"""

from __future__ import annotations

import os
import random
import sys
import traceback
from contextlib import nullcontext
from math import inf
from pathlib import Path
from time import monotonic
from typing import NoReturn

import atheris

#: Packages whose code guides libFuzzer: ours in Python, and the parser of recipes.
_GUIDING = ["geolookup_builder", "geolookup", "tomllib"]


def main(name: str, seconds: int, found: Path, options: list[str], *, planted: bool) -> None:
    with atheris.instrument_imports(include=_GUIDING):
        from tests.fuzz.corpus import file_name
        from tests.fuzz.targets import TARGETS
    target, inputs, end = TARGETS[name], 0, inf

    def run(data: bytes) -> None:
        nonlocal inputs
        inputs += 1
        try:
            target.run(data)
        except Exception:  # noqa: BLE001 - whatever it is, it is a finding
            (found / f"{name}-{file_name(data)}").write_bytes(data)
            traceback.print_exc()
            _end(inputs, 1)
        if monotonic() > end:
            _end(inputs, 0)

    def mutate(data: bytes, size: int, seed: int) -> bytes:
        nonlocal end
        end = min(end, monotonic() + seconds)  # the time begins behind the seeds

        def change(part: bytes) -> bytes:
            changed: bytes = atheris.Mutate(part, max(len(part), size - len(data) + len(part)))
            return changed

        return target.mutate(data, change, random.Random(seed))[:size]

    atheris.Setup([sys.argv[0], *options], run, custom_mutator=mutate)
    with target.planted() if planted else nullcontext():
        atheris.Fuzz()


def _end(inputs: int, status: int) -> NoReturn:
    """End at once: libFuzzer waits for Arrow's threads, which may wait for the interpreter."""
    print(f"{inputs} inputs", flush=True)
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    _name, _seconds, _found, _planted, *_options = sys.argv[1:]
    main(_name, int(_seconds), Path(_found), _options, planted=_planted == "1")
