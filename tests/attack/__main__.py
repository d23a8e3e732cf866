"""``python -m tests.attack`` lists the attacks, ``python -m tests.attack NAME...`` runs them.

Exit status 2: an attack needs a package or a program that is not installed.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
from pathlib import Path
from typing import Any

import pytest

NAMES = sorted(
    module.name
    for module in pkgutil.iter_modules([str(Path(__file__).parent)])
    if not module.name.startswith(("_", "test_"))
)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.attack", description=__doc__)
    parser.add_argument("name", nargs="*", help="an attack, or all", metavar="NAME")
    names = parser.parse_args(arguments).name
    for name in NAMES if names == ["all"] else names:
        if name not in NAMES:
            parser.error(f"no attack named {name}")
        print(f"== {name}", flush=True)
        try:
            _module(name).attack()
        except (ModuleNotFoundError, pytest.skip.Exception) as error:
            print(f"{name}: {error}; install the extra dev, and a Redis server", file=sys.stderr)
            return 2
    if not names:
        print(
            *(f"{name:14} {(_module(name).__doc__ or '').splitlines()[0]}" for name in NAMES),
            sep="\n",
        )
    return 0


def _module(name: str) -> Any:
    return importlib.import_module(f"tests.attack.{name}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
