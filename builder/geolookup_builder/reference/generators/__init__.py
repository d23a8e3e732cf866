"""Scripts that make the tables of this folder from public packages; users never run them."""

from __future__ import annotations

import csv
import json
import subprocess
import tarfile
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any


def json_files(package: str, *names: str) -> Iterator[Any]:
    """Yield the content of JSON files in a package (``name@version``); this needs npm."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["npm", "pack", "--silent", package]
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)  # noqa: S603
        with tarfile.open(next(Path(folder).glob("*.tgz"))) as archive:
            for name in names:
                yield json.load(archive.extractfile(f"package/{name}"))  # type: ignore[arg-type]


def write_table(path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a table that ``read_table`` reads."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows([columns, *rows])
