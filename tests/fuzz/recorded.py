"""Seeds of the source targets: every small build that the tests of the readers ask for.

Strategy: pytest runs those tests with a compiler that takes note of the files and sources it is
given and then refuses them; what such a test says after its first build does not matter.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

import pytest

from geolookup.errors import BuildError
from tests import conftest
from tests.conftest import ROOT

FOLDER = "GEOLOOKUP_FUZZ_SEEDS"
CUT = b"\n--8<-- "
_RECIPE = "recipe.toml"
_LARGEST = 6000
_TESTS = (
    "tests/builder/sources",
    "tests/builder/sources/reading/test_inputs.py",
    "tests/builder/test_generic_*.py",
)


def record(folder: Path) -> None:
    """Put the seeds into a new folder, one a file."""
    folder.mkdir(parents=True)
    tests = [str(path) for each in _TESTS for path in ROOT.glob(each)]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.fuzz.recorded", *tests]
    subprocess.run(
        [*command, "-p", "no:cacheprovider", "--tb=no", "--no-summary"],
        cwd=ROOT,
        env={**os.environ, FOLDER: str(folder)},
        stdout=subprocess.DEVNULL,
        check=False,
    )


def joined(sources: bytes, files: dict[str, bytes]) -> bytes:
    """Return an input: the ``[[source]]`` tables, then the files, each behind its name."""
    return sources + b"".join(CUT + name.encode() + b"\n" + data for name, data in files.items())


def pytest_configure(config: pytest.Config) -> None:
    folder = Path(os.environ[FOLDER])

    def note(recipe: Path, *_rest: object) -> NoReturn:
        seed = _seed(recipe)
        if seed is not None:
            (folder / hashlib.sha256(seed).hexdigest()[:20]).write_bytes(seed)
        raise BuildError(recipe, "taken note of", line=1, remedy="go on")

    setattr(conftest, "compile_dataset", note)  # noqa: B010 - not exported, says mypy


def _seed(recipe: Path) -> bytes | None:
    """Return the sources and files of a build; None where they are too large or not plain."""
    _, _, sources = recipe.read_bytes().partition(b"[[source]]")
    paths = sorted(recipe.parent.iterdir())
    if not sources or not all(path.is_file() for path in paths):
        return None
    files = {path.name: path.read_bytes() for path in paths if path.name != _RECIPE}
    seed = joined(b"[[source]]" + sources, files)
    return seed if files and len(seed) <= _LARGEST else None
