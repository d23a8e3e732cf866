"""A tree of files to enrich into a tree of the same shape; an interrupted run can be resumed.

Strategy: a file under its final name is complete. A line in a record beside
the outputs states its input and options, so that a run can tell its own
outputs from foreign files, and from outputs for another dataset, input or option.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path, PurePath

from geolookup.errors import TableFileError
from geolookup.files.enriched_rows import EnrichOptions
from geolookup.files.formats import FORMATS, Kind, renamed
from geolookup.files.table_files import TableFile, files_of
from geolookup.filesystem.atomic import output_errors

#: In the output folder: a line of JSON for each output file.
RECORD = ".geolookup-enrich.jsonl"


@dataclass(frozen=True, slots=True)
class Task:
    """One file of a tree."""

    name: str  # its path under the output folder
    source: TableFile
    target: TableFile


@dataclass(frozen=True, slots=True)
class Tree:
    """The table files of a folder, in order, and the number of other files."""

    tasks: list[Task]
    others: int


def tree(source: Path, target: Path, output_format: str | None) -> Tree:
    """Return the files to enrich; hidden files are skipped.

    Raises TableFileError if two files have one output, or one folder is inside the other.
    """
    inside = (source.resolve(), target.resolve())
    if inside[0] == inside[1] or inside[0] in inside[1].parents or inside[1] in inside[0].parents:
        raise TableFileError(target, "lies in the folder of the input", "choose another folder")
    tasks: dict[str, Task] = {}
    others = 0
    for path, kind in files_of(source):
        if kind is None:
            others += 1
            continue
        task = _task(path, kind, source, target, output_format)
        if task.name in tasks:
            problem = f"would become {task.name}, as another file does"
            raise TableFileError(path, problem, "rename one, or leave out --output-format")
        tasks[task.name] = task
    return Tree(list(tasks.values()), others)


def _task(path: Path, kind: Kind, source: Path, target: Path, output_format: str | None) -> Task:
    name: PurePath = path.relative_to(source)
    target_kind = kind
    if output_format is not None and output_format != kind.format.name:
        target_kind = Kind(FORMATS[output_format], None)
        name = renamed(name, target_kind.format)
    if target_kind.format.writer is None:
        problem = f"{target_kind.format.name} is read only"
        raise TableFileError(path, problem, "give --output-format")
    return Task(
        name.as_posix(), TableFile(str(path), kind), TableFile(str(target / name), target_kind)
    )


def stamp(task: Task, options: EnrichOptions, generation: str) -> str:
    """Return a digest of what an output depends on: dataset, options, formats, input file.

    The input file counts as unchanged while its size and time of modification are the same.
    """
    state = Path(task.source.path).stat()
    depends_on = {
        "generation": generation,
        "options": {**asdict(options), "threads": None},
        "formats": [task.source.kind.format.name, task.target.kind.format.name],
        "input": [state.st_size, state.st_mtime_ns],
    }
    return hashlib.sha256(json.dumps(depends_on, sort_keys=True).encode()).hexdigest()


class Record:
    """The outputs and their stamps; lines are only appended, the last line of a file counts."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / RECORD
        self._stamps = dict(_lines(self._path))

    def knows(self, name: str) -> bool:
        """Say whether an earlier run made this output."""
        return name in self._stamps

    def is_done(self, name: str, stamp: str) -> bool:
        """Say whether this output was made with this stamp."""
        return self._stamps.get(name) == stamp

    def add(self, name: str, stamp: str) -> None:
        """Record an output that is complete."""
        # A line feed first: a line that a crash truncated does not damage this one.
        line = json.dumps({"file": name, "stamp": stamp}, ensure_ascii=True)
        with output_errors(self._path), self._path.open("a", encoding="ascii") as file:
            file.write(f"\n{line}\n")
            file.flush()
            os.fsync(file.fileno())
        self._stamps[name] = stamp


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    if not path.is_file():
        return
    for line in path.read_bytes().splitlines():
        try:
            found = json.loads(line)
            yield str(found["file"]), str(found["stamp"])
        except (ValueError, KeyError, TypeError, RecursionError):
            continue  # blank or truncated: that file is made again
