"""``python -m tests.attack`` lists the attacks, ``python -m tests.attack NAME...`` runs them."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from pathlib import Path

NAMES = sorted(
    module.name
    for module in pkgutil.iter_modules([str(Path(__file__).parent)])
    if not module.name.startswith(("_", "test_"))
)


def main(arguments: list[str]) -> int:
    names = NAMES if arguments == ["all"] else arguments
    unknown = [name for name in names if name not in NAMES]
    if not names or unknown:
        print(*(f"no attack named {name}" for name in unknown), *NAMES, "all", sep="\n")
        return 2
    for name in names:
        print(f"== {name}", flush=True)
        importlib.import_module(f"tests.attack.{name}").attack()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
