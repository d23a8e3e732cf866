"""Targets under atheris, each in a process of its own; see ``python -m tests.fuzz``.

``python -m tests.fuzz.one`` reads a ``Job`` as JSON from each line of standard input and writes a
line with its exit status: not 0 where an input was found, which is then in the folder ``findings``.
The process imports and instruments the code once, and forks for each job.
"""

from __future__ import annotations

import json
import os
import random
import sys
import tempfile
import traceback
from contextlib import nullcontext
from math import inf
from pathlib import Path
from time import monotonic
from typing import NoReturn

import atheris

from tests.fuzz.target import READY, Job

#: Packages whose code guides libFuzzer: ours in Python, and the parser of recipes.
_GUIDING = ["geolookup_builder", "geolookup", "tomllib"]
with atheris.instrument_imports(include=_GUIDING):
    from tests.fuzz.corpus import file_name
    from tests.fuzz.targets import TARGETS


def main() -> None:
    print(READY, end="", flush=True)
    for line in sys.stdin:
        job = Job(*json.loads(line))
        child = os.fork()
        if not child:
            _child(job)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def _child(job: Job) -> NoReturn:
    """Fuzz with the output in the job's file and temporary files in its folder."""
    output = os.open(job.output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for descriptor in (1, 2):
        os.dup2(output, descriptor)
    tempfile.tempdir = job.memory
    try:
        _fuzz(job)
    except BaseException:  # noqa: BLE001 - the child must not go on as its parent
        traceback.print_exc()
    _end(0, 1)


def _fuzz(job: Job) -> None:
    target, inputs, end = TARGETS[job.name], 0, inf

    def run(data: bytes) -> None:
        nonlocal inputs
        inputs += 1
        try:
            target.run(data)
        except Exception:  # noqa: BLE001 - whatever it is, it is a finding
            (Path(job.findings) / f"{job.name}-{file_name(data)}").write_bytes(data)
            traceback.print_exc()
            _end(inputs, 1)
        if monotonic() > end:
            _end(inputs, 0)

    def mutate(data: bytes, size: int, seed: int) -> bytes:
        nonlocal end
        end = min(end, monotonic() + job.seconds)  # the time begins behind the seeds

        def change(part: bytes) -> bytes:
            changed: bytes = atheris.Mutate(part, max(len(part), size - len(data) + len(part)))
            return changed

        return target.mutate(data, change, random.Random(seed))[:size]

    atheris.Setup([sys.argv[0], *job.options], run, custom_mutator=mutate)
    with target.planted() if job.planted else nullcontext():
        atheris.Fuzz()


def _end(inputs: int, status: int) -> NoReturn:
    """End at once: libFuzzer waits for Arrow's threads, which may wait for the interpreter."""
    print(f"{inputs} inputs", flush=True)
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    main()
