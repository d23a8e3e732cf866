"""Fuzz the parts that read what others wrote, guided by coverage, with atheris.

``python -m tests.fuzz NAME`` or ``all``. A run begins with the target's seeds and its inputs in
``tests/fuzz/corpus``; libFuzzer keeps what it learns in ``.fuzz/NAME``. Exit status not 0: an input
with a finding is in ``.fuzz/found``. A finding becomes a test beside the others of its module.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tests.fuzz.target import Target, corpus

#: Not from ``tests.conftest``: what that imports would not be instrumented.
ROOT = Path(__file__).parents[2]
HOME = ROOT / ".fuzz"
#: Seconds that one input may take, beside others on a machine that is busy.
_TIME_LIMIT = 25
_MEMORY_LIMIT_MB = 3000


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("name", help="a target, or all")
    parser.add_argument("--seconds", type=int, default=60, help="for each target; default: 60")
    parser.add_argument("--seed", type=int, default=random.randrange(1, 1 << 31))
    parser.add_argument("--input", type=Path, nargs="+", help="run these inputs, without atheris")
    options = parser.parse_args(arguments)
    if not options.input:
        if find_spec("atheris") is None:
            parser.error("atheris is not installed; install the extra fuzz")
        _instrument()
    from tests.fuzz.targets import TARGETS

    if options.name not in {"all", *TARGETS}:
        parser.error(f"no target {options.name}; there are {', '.join(TARGETS)}")
    if options.name == "all":
        return max(abs(_in_a_process(name, options)) for name in TARGETS)
    target = TARGETS[options.name]
    for path in options.input or ():
        target.run(path.read_bytes())
        print(f"{options.name}: nothing is wrong with {path}")
    if not options.input:
        _fuzz(options.name, target, options.seconds, options.seed)
    return 0


def _instrument() -> None:
    """Import our packages, and the parser of recipes, so that their code guides libFuzzer."""
    import atheris

    with atheris.instrument_imports(include=["geolookup_builder", "geolookup", "tomllib"]):
        import tests.fuzz.targets  # noqa: F401


def _in_a_process(name: str, options: argparse.Namespace) -> int:
    """Fuzz a target in a process of its own: libFuzzer ends it."""
    command = [sys.executable, "-m", "tests.fuzz", name]
    command += ["--seconds", str(options.seconds), "--seed", str(options.seed)]
    # Without a random hash seed, one seed of mutations gives one sequence of inputs.
    return subprocess.run(
        command, cwd=ROOT, env={**os.environ, "PYTHONHASHSEED": "0"}, check=False
    ).returncode


def _fuzz(name: str, target: Target, seconds: int, seed: int) -> None:
    import atheris

    print(f"{name}, seed {seed}", flush=True)
    learnt, findings = HOME / name, HOME / "found"
    for folder in (learnt, findings):
        folder.mkdir(parents=True, exist_ok=True)
    inputs = [*target.seeds(), *corpus(name)]
    for data in inputs:
        (learnt / sha256(data).hexdigest()[:16]).write_bytes(data)

    def mutate(data: bytes, size: int, number: int) -> bytes:
        def change(part: bytes) -> bytes:
            changed: Any = atheris.Mutate(part, max(len(part), size - len(data) + len(part)))
            return bytes(changed)

        return target.mutate(data, change, random.Random(number))[:size]

    libfuzzer = [
        *(f"-seed={seed}", f"-max_total_time={seconds}", f"-timeout={_TIME_LIMIT}"),
        *(f"-rss_limit_mb={_MEMORY_LIMIT_MB}", f"-max_len={max(4096, 2 * max(map(len, inputs)))}"),
        *(f"-artifact_prefix={findings}/{name}-", str(learnt)),
    ]
    with tempfile.TemporaryDirectory() as temporary:
        tempfile.tempdir = temporary
        atheris.Setup([sys.argv[0], *libfuzzer], target.run, custom_mutator=mutate)
        atheris.Fuzz()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
