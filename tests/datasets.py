"""Datasets that a run of the tests compiles once, for all of its processes.

The process that starts the run makes a folder and names it in the environment, for the workers
and the commands that it starts. It removes the folder when it ends.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.internals.filesystem import hold_lock

_RECIPE = Path(__file__).resolve().parent.parent / "sample_data" / "small.toml"
_ENVIRONMENT = "GEOLOOKUP_TESTS_DATASETS"


def once(name: str, make: Callable[[Path], object]) -> Path:
    """Return the file or folder ``name`` of the run; ``make`` writes it if it is missing.

    Tests must not change it, only a copy. The name begins with the test folder: ``store-aged-1``.
    """
    path = _FOLDER / name
    if not path.exists():
        with hold_lock(_FOLDER / f"{name}.lock", 600):  # it may compile
            if not path.exists():
                staged = _FOLDER / f"{name}.new"
                make(staged)
                staged.rename(path)
    return path


def _folder() -> Path:
    named = Path(os.environ.get(_ENVIRONMENT, "missing"))
    if named.is_dir():  # of this run: the folder of an earlier one is gone
        return named
    folder = Path(tempfile.mkdtemp(prefix="geolookup-tests-"))
    folder.chmod(0o755)  # tests of permissions read it as another user
    atexit.register(_remove, folder, os.getpid())
    os.environ[_ENVIRONMENT] = str(folder)
    return folder


def _remove(folder: Path, owner: int) -> None:
    if os.getpid() == owner:  # a fork inherits the call
        shutil.rmtree(folder, ignore_errors=True)


def _small(output: Path) -> None:
    # Imported here: most processes that tests start find the dataset compiled.
    from tests.internals.builder import build

    build(_RECIPE, output, max_rejected=0)


_FOLDER = _folder()
#: A small dataset of well-known networks.
SMALL = once("small", _small)
