"""One run of ``geolookup enrich``: a file, or a tree of files into a tree of the same shape.

A file under its final name is complete. So a second run of a tree that was interrupted makes only
the files that are missing.
"""

from __future__ import annotations

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
from geolookup.progress import Progress


class EnrichJob:
    """One run of ``geolookup enrich``. ``force`` replaces existing outputs."""

    def __init__(self, engine: Engine, options: EnrichOptions, *, force: bool) -> None:
        self._engine = engine
        self._options = options
        self._force = force
        self._counts = Counts()
        self._progress = Progress()
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
        if output != STANDARD:
            check_other(source, output)
            check_file(Path(output), force=self._force)
        self._enrich(origin, target, 0.0, 1.0)

    def folder(self, source: Path, output: Path, output_format: str | None) -> None:
        """Enrich the files of a tree whose outputs are missing; ``force`` enriches all.

        Stops at the first unusable file.
        """
        tasks, others = _tasks(source, output, output_format)
        due = [
            (path, target)
            for path, target in tasks
            if self._force or not Path(target.path).exists()
        ]
        sizes = [max(Path(path.path).stat().st_size, 1) for path, _ in due]
        done, total = 0, sum(sizes)
        for (path, target), size in zip(due, sizes, strict=True):
            with output_errors(Path(target.path)):
                Path(target.path).parent.mkdir(parents=True, exist_ok=True)
            self._enrich(path, target, done / total, size / total)
            done += size
        self._files.append(f"{count_text(len(due), 'file')} written")
        if len(due) < len(tasks):
            kept = f"{len(tasks) - len(due):,} kept as they are (--force replaces them)"
            self._files.append(kept)
        if others:
            self._files.append(f"{others:,} of other formats skipped")

    def _enrich(self, source: TableFile, target: TableFile, before: float, share: float) -> None:
        def step(fraction: float | None) -> None:
            whole = None if fraction is None else before + fraction * share
            self._progress.show(self._counts.rows, whole)

        options, counts = self._options, self._counts
        try:
            enrich_file(self._engine, source, target, options, counts, step, force=self._force)
        finally:
            self._progress.clear()

    def report(self) -> str:
        """Return the closing line, after lines about rows that were not read or answered."""
        counts, without = self._counts, self._counts.without_generation
        answered = counts.rows - without.total - counts.invalid - counts.private
        parts = [
            count_text(counts.rows, "row"),
            f"{counts.located:,} located",
            f"{answered - counts.located:,} unknown",
            f"{counts.invalid:,} invalid",
            f"{counts.private:,} private",
        ]
        closing = ", ".join(parts) + f" in {self._progress.seconds:.1f} s"
        if self._files:
            closing += "; " + ", ".join(self._files)
        unanswered = without.lines(self._engine.generations()) if without.total else []
        return "\n".join([*counts.notes, *unanswered, closing])


def _tasks(
    source: Path, target: Path, output_format: str | None
) -> tuple[list[tuple[TableFile, TableFile]], int]:
    """Return the files to enrich with their outputs, and the number of other files.

    Raises TableFileError if two files have one output, or one folder is inside the other.
    """
    inside = (source.resolve(), target.resolve())
    if inside[0] == inside[1] or inside[0] in inside[1].parents or inside[1] in inside[0].parents:
        raise TableFileError(target, "lies in the folder of the input", "choose another folder")
    tasks: dict[PurePath, tuple[TableFile, TableFile]] = {}
    others = 0
    for path, kind in files_of(source):
        if kind is None:
            others += 1
            continue
        name: PurePath = path.relative_to(source)
        output_kind = kind
        if output_format is not None and output_format != kind.format.name:
            output_kind = Kind(FORMATS[output_format], None)
            name = path_in_format(name, output_kind.format)
        if name in tasks:
            problem = f"has the same output as another file, {name.as_posix()}"
            raise TableFileError(path, problem, "rename one, or leave out --output-format")
        tasks[name] = TableFile(str(path), kind), TableFile(str(target / name), output_kind)
    return list(tasks.values()), others
