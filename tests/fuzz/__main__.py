"""Fuzz the parts that read what others wrote, guided by coverage, with atheris.

``python -m tests.fuzz NAME`` or ``all``; ``--help`` has the rest. A run begins with the target's
seeds and its inputs in ``tests/fuzz/corpus``. Its inputs and findings are in ``.fuzz/``; git
ignores that. Exit status 1: something was found, and the input is in ``.fuzz/found``. A finding
becomes a test beside the others of its module.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from itertools import product
from pathlib import Path

from tests.fuzz import corpus
from tests.fuzz.running import HOME, LEARNT, Run, fuzzed
from tests.fuzz.targets import TARGETS


def main(arguments: list[str]) -> int:
    inputs = _arguments(arguments)
    names = list(TARGETS) if inputs.name == "all" else [inputs.name]
    if inputs.input:
        for name, path in product(names, inputs.input):
            TARGETS[name].run(path.read_bytes())
            print(f"{name}: nothing is wrong with {path}")
        return 0
    print(f"seed {inputs.seed}", flush=True)
    runs = _runs(names, inputs.seconds, inputs.seed)
    if inputs.keep is not None:
        for name in names:
            _keep(name, inputs.keep)
    return int(any(run.has_finding for run in runs))


def _arguments(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("name", choices=["all", *TARGETS])
    parser.add_argument("--seconds", type=int, default=60, help="for all targets together")
    parser.add_argument(
        "--seed", type=int, default=random.randrange(1, 1 << 31), help="default: another each time"
    )
    parser.add_argument(
        "--keep",
        type=Path,
        nargs="?",
        const=corpus.FOLDER,
        metavar="FOLDER",
        help="then choose a small corpus from the learnt inputs; default: tests/fuzz/corpus",
    )
    parser.add_argument("--input", type=Path, nargs="+", help="run these inputs, without atheris")
    value = parser.parse_args(arguments)
    for path in value.input or ():
        if not path.is_file():
            parser.error(f"{path}: no such file")
    if not value.input and find_spec("atheris") is None:
        parser.error("atheris is not installed; install the extra fuzz")
    return value


def _runs(names: list[str], seconds: int, seed: int) -> list[Run]:
    """Fuzz targets side by side, and print a line of each."""
    workers = min(os.cpu_count() or 1, len(names))
    item = max(1, seconds * workers // len(names))

    def one_after_another(selection: list[str]) -> list[Run]:
        runs = []
        for run in fuzzed(selection, item, seed, LEARNT):
            print(run.line(), *([run.output] if run.has_finding else []), sep="\n", flush=True)
            runs.append(run)
        return runs

    with ThreadPoolExecutor(workers) as pool:
        parts = pool.map(one_after_another, [names[at::workers] for at in range(workers)])
        return [run for part in parts for run in part]


def _keep(name: str, folder: Path) -> None:
    """Choose the corpus of a target from itself and from the learnt inputs."""
    inputs = [*corpus.entries(name, folder), *corpus.entries(name, LEARNT)]
    kept = corpus.minimal(TARGETS[name], inputs)
    corpus.write(name, kept, folder)
    print(f"{name:20} {len(kept):4} inputs, {sum(map(len, kept)):7,} bytes kept", flush=True)


if __name__ == "__main__":
    HOME.mkdir(exist_ok=True)
    sys.exit(main(sys.argv[1:]))
