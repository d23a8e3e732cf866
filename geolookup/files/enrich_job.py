"""One run of ``geolookup enrich``: a file, or a tree of files into a tree of the same shape.

A file under its final name is complete. A record next to the outputs has a line with the input and
the options of each. With it, a run recognises its own outputs, outputs for another dataset, input
or option, and foreign files. It also resumes an interrupted run.
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path, PurePath

import pyarrow as pa

from geolookup.engine import Engine
from geolookup.errors import TableFileError, count_text
from geolookup.files.byte_streams import STANDARD
from geolookup.files.enrich import Counts, EnrichOptions, enrich_file
from geolookup.files.table_files import (
    FORMATS,
    Kind,
    TableFile,
    check_other,
    files_of,
    kind_of,
    path_in_format,
)
from geolookup.filesystem.atomic import check_file, output_errors
from geolookup.progress import RowProgress

#: In the output folder: a line of JSON for each output file.
RECORD = ".geolookup-enrich.jsonl"


@dataclass(frozen=True, slots=True)
class Task:
    """One file of a tree."""

    name: str  # its path under the output folder
    source: TableFile
    target: TableFile


def _tasks(source: Path, target: Path, output_format: str | None) -> tuple[list[Task], int]:
    """Return the files to enrich, and the number of other files; hidden files are skipped.

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
            problem = f"has the same output as another file, {task.name}"
            raise TableFileError(path, problem, "rename one, or leave out --output-format")
        tasks[task.name] = task
    return list(tasks.values()), others


def _task(path: Path, kind: Kind, source: Path, target: Path, output_format: str | None) -> Task:
    name: PurePath = path.relative_to(source)
    target_kind = kind
    if output_format is not None and output_format != kind.format.name:
        target_kind = Kind(FORMATS[output_format], None)
        name = path_in_format(name, target_kind.format)
    if target_kind.format.write is None:
        problem = f"{target_kind.format.name} is read only"
        raise TableFileError(path, problem, "pass --output-format")
    return Task(
        name.as_posix(), TableFile(str(path), kind), TableFile(str(target / name), target_kind)
    )


class _Record:
    """The outputs and their stamps; lines are only appended, the last line of a file counts."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / RECORD
        self.stamps: dict[str, str] = {}
        for line in self._path.read_bytes().splitlines() if self._path.is_file() else ():
            with suppress(ValueError, KeyError, TypeError, RecursionError):  # blank or truncated
                record = json.loads(line)
                self.stamps[str(record["file"])] = str(record["stamp"])

    def add(self, name: str, stamp: str) -> None:
        """Record an output that is complete."""
        # A line feed first: a line that a crash truncated does not damage this one.
        line = json.dumps({"file": name, "stamp": stamp}, ensure_ascii=True)
        with output_errors(self._path), self._path.open("a", encoding="ascii") as file:
            file.write(f"\n{line}\n")
            file.flush()
            os.fsync(file.fileno())


class EnrichJob:
    """One run of ``geolookup enrich``. ``force`` replaces existing outputs."""

    def __init__(self, engine: Engine, options: EnrichOptions, *, force: bool) -> None:
        self._engine = engine
        self._options = options
        self._force = force
        self._counts = Counts()
        self._progress = RowProgress()
        self._files: list[str] = []
        if options.threads is not None:
            pa.set_cpu_count(options.threads)  # limits Arrow's own threads

    def file(
        self, source: str, output: str, input_format: str | None, output_format: str | None
    ) -> None:
        """Enrich one file; raises OutputError or TableFileError and leaves an old output.

        Standard output has the format of the input, unless it is read only.
        """
        origin = TableFile(source, kind_of(source, input_format, "--input-format"))
        if output == STANDARD and origin.kind.format.write is not None:
            output_format = output_format or origin.kind.format.name
        target = TableFile(output, kind_of(output, output_format, "--output-format"))
        if target.kind.format.write is None:
            problem = f"{target.kind.format.name} is read only"
            raise TableFileError(output, problem, "name another by --output-format")
        if output != STANDARD:
            check_other(source, output)
            check_file(Path(output), force=self._force)
        self._enrich(origin, target, 0.0, 1.0, force=self._force)

    def folder(self, source: Path, output: Path, output_format: str | None) -> None:
        """Enrich all files of a tree that are not done; stops at the first unusable file."""
        tasks, others = _tasks(source, output, output_format)
        with output_errors(output):
            output.mkdir(exist_ok=True)
        record, dataset = _Record(output), self._dataset()
        stamps = {task.name: self._stamp(task, dataset) for task in tasks}
        due = [task for task in tasks if self._is_due(task, record, stamps[task.name])]
        sizes = [max(Path(task.source.path).stat().st_size, 1) for task in due]
        done, total = 0, sum(sizes)
        for task, size in zip(due, sizes, strict=True):
            with output_errors(Path(task.target.path)):
                Path(task.target.path).parent.mkdir(parents=True, exist_ok=True)
            # Files of an earlier run are replaced; ``_is_due`` has refused others.
            self._enrich(task.source, task.target, done / total, size / total, force=True)
            record.add(task.name, stamps[task.name])
            done += size
        self._files.append(f"{count_text(len(due), 'file')} written")
        if len(due) < len(tasks):
            self._files.append(f"{len(tasks) - len(due):,} up to date")
        if others:
            self._files.append(f"{others:,} of other formats skipped")

    def _dataset(self) -> str:
        """Return what identifies the data: the generation in use, or all periods of the store."""
        if self._options.as_of_column is None:
            return self._engine.metadata.generation
        generations = self._engine.generations()
        return json.dumps([list(generations.begins), list(generations.by_period)])

    def _stamp(self, task: Task, dataset: str) -> str:
        """Return a digest of all that decides an output: dataset, options, formats, input file.

        An input file is unchanged if its size and time of modification are the same.
        """
        state = Path(task.source.path).stat()
        depends_on = {
            "generation": dataset,
            # The number of threads does not change an output.
            "options": {**asdict(self._options), "threads": None},
            "formats": [task.source.kind.format.name, task.target.kind.format.name],
            "input": [state.st_size, state.st_mtime_ns],
        }
        return hashlib.sha256(json.dumps(depends_on, sort_keys=True).encode()).hexdigest()

    def _is_due(self, task: Task, record: _Record, stamp: str) -> bool:
        """Return whether the output is out of date; raises for a file that no earlier run made."""
        output = Path(task.target.path)
        if self._force or not output.exists():
            return True
        if record.stamps.get(task.name) == stamp:
            return False
        check_file(output, force=task.name in record.stamps)
        return True

    def _enrich(
        self, source: TableFile, target: TableFile, before: float, share: float, *, force: bool
    ) -> None:
        def step(fraction: float | None) -> None:
            whole = None if fraction is None else before + fraction * share
            self._progress.show(self._counts.rows, whole)

        try:
            enrich_file(
                self._engine, source, target, self._options, self._counts, step, force=force
            )
        finally:
            self._progress.clear()

    def report(self) -> str:
        """Return the closing line, after lines about rows that were not read or answered."""
        counts, without = self._counts, self._counts.without_generation
        parts = [
            count_text(counts.rows, "row"),
            f"{counts.located:,} located",
            f"{counts.unknown:,} unknown",
            f"{counts.invalid:,} invalid",
            f"{counts.private:,} private",
        ]
        closing = ", ".join(parts) + f" in {self._progress.seconds:.1f} s"
        if self._files:
            closing += "; " + ", ".join(self._files)
        unanswered = without.lines(self._engine.generations()) if without.total else []
        return "\n".join([*counts.notes, *unanswered, closing])
