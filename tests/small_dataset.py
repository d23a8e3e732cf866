"""A small dataset of well-known networks, compiled once for a run of the tests.

The process that compiles it names the folder in the environment, so that the processes that
it starts find it, and removes it when it ends.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from pathlib import Path

_RECIPE = Path(__file__).resolve().parent.parent / "sample_data" / "small.toml"
_ENVIRONMENT = "GEOLOOKUP_TESTS_SMALL_DATASET"


def _compiled() -> Path:
    if _ENVIRONMENT in os.environ:
        return Path(os.environ[_ENVIRONMENT])
    # Imported here: most processes that tests start find the dataset compiled.
    from geolookup_builder.compile import build

    folder = Path(tempfile.mkdtemp(prefix="geolookup-tests-"))
    atexit.register(_remove, folder, os.getpid())
    output = folder / "small"
    build(_RECIPE, output, max_rejects=0)
    os.environ[_ENVIRONMENT] = str(output)
    return output


def _remove(folder: Path, owner: int) -> None:
    if os.getpid() == owner:  # a fork inherits the call
        shutil.rmtree(folder, ignore_errors=True)


SMALL = _compiled()
