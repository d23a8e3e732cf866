"""Where a format writes: a file, a folder, or a stream of bytes that may be standard output.

An output is complete or absent: it has a temporary name until all of it is written.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from geolookup.dataset.files import Dataset
from geolookup.errors import OutputError
from geolookup.export.formats import ExportFormat
from geolookup.files.byte_streams import STANDARD, open_output
from geolookup.filesystem.atomic import (
    check_file,
    check_folder,
    output_errors,
    staged_file,
    staged_folder,
)
from geolookup.filesystem.unpacking import compression


@contextmanager
def open_target(
    dataset: Dataset, output: str, export_format: ExportFormat, *, force: bool
) -> Iterator[Any]:
    """Yield the target to write to; the output exists if the block succeeds.

    Raises OutputError if it cannot be written, lies in the dataset, or exists and ``force``
    is not set.
    """
    if output == STANDARD and export_format.output != "stream":
        problem = f"{export_format.name} cannot be written to standard output"
        raise OutputError(output, problem, "name a file or folder")
    if output != STANDARD:
        _check_outside(dataset, Path(output))
    with _KINDS[export_format.output](output, export_format, force) as target:
        yield target


def _check_outside(dataset: Dataset, output: Path) -> None:
    source = Path(os.path.realpath(dataset.path))
    with output_errors(output):
        # realpath: a link into the dataset is the dataset.
        if source in (path := Path(os.path.realpath(output)), *path.parents):
            raise OutputError(output, "is in the dataset itself", "choose another name")


@contextmanager
def _file(output: str, _export_format: ExportFormat, force: bool) -> Iterator[Path]:
    check_file(Path(output), force=force)
    with staged_file(Path(output), force=force) as fresh:
        yield fresh


@contextmanager
def _folder(output: str, export_format: ExportFormat, force: bool) -> Iterator[Path]:
    written = partial(_is_written_by, export_format)
    check_folder(
        Path(output), force=force, replaceable=written, kind=f"{export_format.name} export"
    )
    with staged_folder(Path(output), force=force) as fresh:
        yield fresh


def _is_written_by(export_format: ExportFormat, folder: Path) -> bool:
    """Return whether every file of a folder has a name that the format writes."""
    files = (path.relative_to(folder) for path in folder.rglob("*") if not path.is_dir())
    return all(re.fullmatch(export_format.holds, path.as_posix()) for path in files)


@contextmanager
def _stream(output: str, _export_format: ExportFormat, force: bool) -> Iterator[Any]:
    with open_output(output, compression(output), force=force) as stream:
        yield stream


_KINDS: dict[str, Callable[[str, ExportFormat, bool], AbstractContextManager[Any]]] = {
    "file": _file,
    "folder": _folder,
    "stream": _stream,
}
