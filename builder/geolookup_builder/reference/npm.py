"""Files of packages of the npm registry, for the generators of tables."""

from __future__ import annotations

import json
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def json_files(package: str, *names: str) -> Iterator[Any]:
    """Yield the content of JSON files in a package (``name@version``); this needs npm."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["npm", "pack", "--silent", package]
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)  # noqa: S603
        with tarfile.open(next(Path(folder).glob("*.tgz"))) as archive:
            archive.extractall(folder, filter="data")
        for name in names:
            yield json.loads((Path(folder) / "package" / name).read_text(encoding="utf-8"))
