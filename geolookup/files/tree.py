"""A tree of files to a tree of the same shape, which can be taken up again where it ended.

Strategy: a file under its final name is whole. What it was made of and how is
one line in a record beside the outputs, so that a run knows its own work from
anybody else's, and from work for another dataset, input or option.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path, PurePath

from geolookup.errors import TableFileError
from geolookup.files.enrich import Place, Wishes
from geolookup.files.formats import FORMATS, Kind, known_kind, renamed
from geolookup.filesystem.atomic import output_errors

#: In the output folder: a line of JSON for each file that was made.
RECORD = ".geolookup-enrich.jsonl"


@dataclass(frozen=True, slots=True)
class Task:
    """One file of a tree."""

    name: str  # its path under the output folder
    source: Place
    target: Place


@dataclass(frozen=True, slots=True)
class Tree:
    """The files of a folder that are tables, in order, and how many others there are."""

    tasks: list[Task]
    others: int


def tree(source: Path, target: Path, output_format: str | None) -> Tree:
    """Find what is to be made; hidden files are none of ours.

    Raises TableFileError where two files would become one, or one folder lies in the other.
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


def files_of(folder: Path) -> Iterator[tuple[Path, Kind | None]]:
    """Yield the files of a tree in order, hidden ones left out, and what each is, if known."""
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if not name.startswith("."):
                yield Path(parent, name), known_kind(name)


def _task(path: Path, kind: Kind, source: Path, target: Path, output_format: str | None) -> Task:
    name: PurePath = path.relative_to(source)
    made = kind
    if output_format is not None and output_format != kind.format.name:
        made = Kind(FORMATS[output_format], None)
        name = renamed(name, made.format)
    if made.format.writer is None:
        raise TableFileError(path, f"{made.format.name} is read only", "give --output-format")
    return Task(name.as_posix(), Place(str(path), kind), Place(str(target / name), made))


def stamp(task: Task, wishes: Wishes, generation: str) -> str:
    """Return what an output depends on, as a digest: dataset, wishes, formats, the input's state.

    An input counts as unchanged while its size and time of modification are.
    """
    state = Path(task.source.path).stat()
    meant = {
        "generation": generation,
        "wishes": {**asdict(wishes), "threads": None},
        "formats": [task.source.kind.format.name, task.target.kind.format.name],
        "input": [state.st_size, state.st_mtime_ns],
    }
    return hashlib.sha256(json.dumps(meant, sort_keys=True).encode()).hexdigest()


class Record:
    """Which outputs were made of what; lines are only ever added, the last of a file counts."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / RECORD
        self._made = dict(_lines(self._path))

    def knows(self, name: str) -> bool:
        """Say whether an output is one of ours."""
        return name in self._made

    def is_done(self, name: str, stamp: str) -> bool:
        """Say whether an output was made just so."""
        return self._made.get(name) == stamp

    def add(self, name: str, stamp: str) -> None:
        """Note an output that is in its place."""
        # A line feed first: a line that was cut off by a crash does not spoil this one.
        line = json.dumps({"file": name, "stamp": stamp}, ensure_ascii=True)
        with output_errors(self._path), self._path.open("a", encoding="ascii") as file:
            file.write(f"\n{line}\n")
            file.flush()
            os.fsync(file.fileno())
        self._made[name] = stamp


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    if not path.is_file():
        return
    for line in path.read_bytes().splitlines():
        try:
            found = json.loads(line)
            yield str(found["file"]), str(found["stamp"])
        except (ValueError, KeyError, TypeError, RecursionError):
            continue  # blank or cut off: that file is made again
