"""``python -m tests.mutate [MODULE ...]``: change the product, and see whether its tests notice.

Prints the mutants that survive, and a line of a table for each module. The same modules, amount and
seed give the same mutants. Exit status 1: a mutant survived that ``survivors.toml`` does not list,
or an entry of that list is faulty. Exit status 2: the tests of a module fail without any change.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import islice

from tests.mutate import scope
from tests.mutate.judging import JudgeError
from tests.mutate.mutant import Mutant, sample
from tests.mutate.running import Runner, Tally, total


def main(arguments: list[str]) -> int:
    options = _arguments(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # removes the copies
    if options.list:
        for module in options.module:
            print(*islice(_mutants(module, options), _number(module, options)), sep="\n")
        return 0
    entries = scope.survivors()
    faults = [
        f"{entry.file}: {entry.before!r} {fault}" for entry in entries if (fault := entry.fault())
    ]
    for fault in faults:
        print(f"survivors.toml: {fault}")
    try:
        tallies = _tallies(entries, options)
    except JudgeError as error:
        print(f"tests fail on the unchanged tree: {error}")
        return 2
    print(total(tallies).line())
    return int(bool(faults) or any(tally.survived for tally in tallies))


def _arguments(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutate", description=__doc__)
    parser.add_argument(
        "module", nargs="*", metavar="MODULE", help=f"default: all of {', '.join(scope.modules())}"
    )
    parser.add_argument(
        "--mutants", type=int, metavar="N", help="per module; default: as in scope.toml"
    )
    parser.add_argument("--seed", type=int, default=1, help="which mutants are drawn; default: 1")
    parser.add_argument("--at", metavar="FILE[:LINE]", help="every mutant of a file or of a line")
    parser.add_argument("--workers", type=int, default=2, metavar="N", help="default: 2")
    parser.add_argument("--list", action="store_true", help="print the mutants, judge none")
    parser.add_argument(
        "--entries", action="store_true", help="print survivors as entries of survivors.toml"
    )
    options = parser.parse_args(arguments)
    if find_spec("cosmic_ray") is None:
        parser.error("cosmic-ray is not installed; install the extra mutate")
    modules = scope.modules()
    for name in options.module:
        if name not in modules:
            parser.error(f"no module {name} in scope.toml")
    file = (options.at or "").partition(":")[0]
    options.module = [
        modules[name]
        for name in options.module or modules
        if not file or file in modules[name].paths()
    ]
    if not options.module:
        parser.error(f"{file} is in no module of scope.toml")
    return options


def _tallies(entries: list[scope.Survivor], options: argparse.Namespace) -> list[Tally]:
    def report(mutant: Mutant) -> None:
        print(scope.as_entry(mutant) if options.entries else mutant, flush=True)

    tallies = []
    print(Tally.head(), flush=True)
    with Runner(scope.ROOT, options.workers, entries) as runner:
        for module in options.module:
            mutants, most = _mutants(module, options), _number(module, options)
            tallies.append(runner.tally(module, mutants, most, report))
            print(tallies[-1].line(), flush=True)
    return tallies


def _mutants(module: scope.Module, options: argparse.Namespace) -> Iterator[Mutant]:
    file, _, line = (options.at or "").partition(":")
    positions = (
        position
        for position in module.positions()
        if file in ("", position.file) and line in ("", str(position.line))
    )
    return sample(positions, f"{module.name} {options.seed}")


def _number(module: scope.Module, options: argparse.Namespace) -> int:
    if options.mutants is not None:
        return int(options.mutants)
    return sys.maxsize if options.at else module.mutants


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
