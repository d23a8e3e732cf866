"""``python -m tests.mutants ROOM``: a sample of the room's mutants, judged by its tests.

cosmic-ray makes and judges them, in a copy of the checkout; ``mutants.toml`` has the rooms and the
survivors that are accepted. Exit status 1: another mutant survived.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.conftest import ROOT

CONFIG: dict[str, Any] = tomllib.loads((ROOT / "tests" / "mutants.toml").read_text("utf-8"))
_COSMIC_RAY = """[cosmic-ray]
module-path = {modules}
timeout = 600.0
test-command = "{python} -m pytest -x -q -p no:cacheprovider {tests}"
[cosmic-ray.distributor]
name = "local"
[cosmic-ray.filters.operators-filter]
exclude-operators = {operators}
"""


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("room", choices=CONFIG["rooms"])
    parser.add_argument("--mutants", type=int, default=40, help="default: 40")
    parser.add_argument("--seed", type=int, default=1, help="which are drawn; default: 1")
    options = parser.parse_args(arguments)
    with TemporaryDirectory() as folder:
        copy = Path(folder)
        _copy_checkout(copy)
        room = CONFIG["rooms"][options.room]
        config = _COSMIC_RAY.format(
            modules=_modules(room["modules"]),
            python=sys.executable,
            tests=" ".join(room["tests"]),
            operators=CONFIG["excluded_operators"],
        )
        (copy / "config.toml").write_text(config, encoding="utf-8")
        _cosmic_ray(copy, "cosmic_ray.cli", "baseline", "config.toml")  # they pass unchanged
        _cosmic_ray(copy, "cosmic_ray.cli", "init", "config.toml", "session")
        _cosmic_ray(copy, "cosmic_ray.tools.filters.operators_filter", "session", "config.toml")
        _draw(copy / "session", options.mutants, random.Random(options.seed))
        _cosmic_ray(copy, "cosmic_ray.cli", "exec", "config.toml", "session")
        survivors = list(_survivors(copy / "session"))
    print(*survivors, f"{len(survivors)} of {options.mutants} survived", sep="\n")
    return int(bool(survivors))


def _copy_checkout(folder: Path) -> None:
    """Copy the files that git tracks or would add, and the compiled kernel."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout.decode()
    compiled = [path.relative_to(ROOT) for path in ROOT.glob("geolookup/kernel/*.so")]
    for name in [*filter(None, names.split("\0")), *compiled]:
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)


def _modules(patterns: list[str]) -> list[str]:
    """Return the files of patterns; ``!`` excludes files."""
    files = set[str]()
    for pattern in sorted(patterns, key=lambda pattern: pattern.startswith("!")):
        matches = {path.relative_to(ROOT).as_posix() for path in ROOT.glob(pattern.lstrip("!"))}
        files = files - matches if pattern.startswith("!") else files | matches
    return sorted(files)


def _cosmic_ray(folder: Path, module: str, *arguments: str) -> None:
    paths = os.pathsep.join((str(folder), str(folder / "builder")))
    command = [sys.executable, "-m", module, *arguments]
    subprocess.run(command, cwd=folder, env={**os.environ, "PYTHONPATH": paths}, check=True)


def _draw(session: Path, number: int, chance: random.Random) -> None:
    """Skip all mutants of a session but some."""
    from cosmic_ray.work_db import use_db
    from cosmic_ray.work_item import WorkerOutcome, WorkResult

    with use_db(session) as db:
        items = [item.job_id for item in db.pending_work_items]
        chance.shuffle(items)
        for item in items[number:]:
            db.set_result(item, WorkResult(worker_outcome=WorkerOutcome.SKIPPED))


def _survivors(session: Path) -> Iterator[str]:
    """Yield a line for each mutant that survived and is not accepted."""
    from cosmic_ray.work_db import use_db
    from cosmic_ray.work_item import TestOutcome

    accepted = {(entry["file"], entry["before"], entry["after"]) for entry in CONFIG["survivors"]}
    with use_db(session) as db:
        for item, result in db.completed_work_items:
            if result.test_outcome != TestOutcome.SURVIVED:
                continue
            lines = (result.diff or "").splitlines()
            before, after = (
                " ".join(
                    line[1:].strip() for line in lines if line[0:1] == sign and line[1:2] != sign
                )
                for sign in "-+"
            )
            file = str(item.mutations[0].module_path)
            if (file, before, after) not in accepted:
                yield f"{file}: {before}  ->  {after}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
