"""What ``geolookup enrich`` does from beginning to end: one file or a tree, with progress."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from geolookup.engine import Engine
from geolookup.errors import TableFileError
from geolookup.files.enrich import Counts, Place, Wishes, enrich_file
from geolookup.files.formats import kind_of
from geolookup.files.streams import STANDARD
from geolookup.files.tree import Record, Task, stamp, tree
from geolookup.filesystem.atomic import check_file, output_errors
from geolookup.progress import RowProgress


class Job:
    """A run of the command. ``force``: what is there already is made again."""

    def __init__(self, engine: Engine, wishes: Wishes, *, force: bool) -> None:
        self._engine = engine
        self._wishes = wishes
        self._force = force
        self._counts = Counts()
        self._progress = RowProgress()
        self._files: list[str] = []
        if wishes.threads is not None:
            pa.set_cpu_count(wishes.threads)  # Arrow, too, uses no more

    def file(
        self, source: str, output: str, input_format: str | None, output_format: str | None
    ) -> None:
        """Enrich one file; raises OutputError or TableFileError, leaving what was there."""
        origin = Place(source, kind_of(source, input_format, "--input-format"))
        target = Place(output, kind_of(output, output_format, "--output-format"))
        if target.kind.format.writer is None:
            problem = f"{target.kind.format.name} is read only"
            raise TableFileError(output, problem, "name another by --output-format")
        if output != STANDARD:
            check_file(Path(output), force=self._force)
        self._enrich(origin, target, 0.0, 1.0)

    def folder(self, source: Path, output: Path, output_format: str | None) -> None:
        """Enrich all files of a tree that were not made before; ends at the first that is bad."""
        found = tree(source, output, output_format)
        with output_errors(output):
            output.mkdir(exist_ok=True)
        record = Record(output)
        stamps = {task.name: self._stamp(task) for task in found.tasks}
        due = [task for task in found.tasks if not self._is_done(task, record, stamps[task.name])]
        sizes = [max(Path(task.source.path).stat().st_size, 1) for task in due]
        done = 0
        for task, size in zip(due, sizes, strict=True):
            with output_errors(Path(task.target.path)):
                Path(task.target.path).parent.mkdir(parents=True, exist_ok=True)
            self._enrich(task.source, task.target, done / sum(sizes), size / sum(sizes))
            record.add(task.name, stamps[task.name])
            done += size
        self._files = _told(len(due), len(found.tasks) - len(due), found.others)

    def _stamp(self, task: Task) -> str:
        return stamp(task, self._wishes, self._engine.metadata.generation)

    def _is_done(self, task: Task, record: Record, made_so: str) -> bool:
        """Say whether an output is there as wished; one that is not ours is left alone."""
        output = Path(task.target.path)
        if self._force or not output.exists():
            return False
        if record.is_done(task.name, made_so):
            return True
        check_file(output, force=record.knows(task.name))
        return False

    def _enrich(self, source: Place, target: Place, before: float, share: float) -> None:
        def step(fraction: float | None) -> None:
            whole = None if fraction is None else before + fraction * share
            self._progress.show(self._counts.rows, whole)

        try:
            enrich_file(self._engine, source, target, self._wishes, self._counts, step)
        finally:
            self._progress.clear()

    def report(self) -> str:
        """Return the closing line."""
        counts, seconds = self._counts, self._progress.seconds
        answered = counts.rows - counts.invalid - counts.private
        parts = [
            f"{counts.rows:,} rows",
            f"{answered:,} with an answer",
            f"{counts.invalid:,} invalid",
            f"{counts.private:,} private",
        ]
        return "; ".join([", ".join(parts) + f" in {seconds:.1f} s", *self._files])


def _told(made: int, skipped: int, others: int) -> list[str]:
    told = [f"{made:,} files made"]
    if skipped:
        told.append(f"{skipped:,} made before and left as they are")
    if others:
        told.append(f"{others:,} of no format known here left out")
    return [", ".join(told)]
