"""Files of addresses to files with columns of answers: one file, or a tree of files.

Strategy: rows are read, enriched, counted and written batch by batch; a thread
writes in the background while the next batches are read and looked up, and
others compress.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from geolookup.engine import Engine
from geolookup.errors import TableFileError
from geolookup.files.byte_streams import STANDARD, input_name, open_output
from geolookup.files.enriched_rows import Counts, EnrichedRows, EnrichOptions
from geolookup.files.file_tree import Record, Task, stamp, tree
from geolookup.files.formats import kind_of
from geolookup.files.row_streams import ReadOptions, Sink, WriteOptions
from geolookup.files.table_files import TableFile, check_other, open_table
from geolookup.filesystem.atomic import check_file, output_errors
from geolookup.parallel import cores
from geolookup.progress import RowProgress

#: Batches that may wait for the background writer while it writes a row group.
_WAITING = 16
#: Called after each batch with the fraction of the file that was read, None where unknown.
Step = Callable[[float | None], None]


def enrich_file(
    engine: Engine,
    source: TableFile,
    target: TableFile,
    options: EnrichOptions,
    counts: Counts,
    step: Step,
) -> None:
    """Write ``target`` completely or not at all.

    Raises TableFileError for an unusable input, OutputError for an output
    that cannot be written, BrokenPipeError.
    """
    wanted = _read_options(source, target, options)
    with open_table(source, wanted) as table:
        before = counts.rows
        answers = EnrichedRows(engine, table.rows, options, wanted.name)
        writer = target.kind.format.writer
        assert writer is not None  # noqa: S101 - the command refuses formats that are read only
        with open_output(
            target.path,
            target.kind.compression,
            options.compression_level,
            options.threads or cores(),
        ) as out:
            sink = writer.write(out, answers.schema, _write_options(source, target, options))
            with _background_writer(sink) as write:
                for batch in answers.batches(counts):
                    write(batch)
                    step(table.fraction(counts.rows - before))
            sink.close()
        counts.malformed += table.malformed()


def _read_options(source: TableFile, target: TableFile, options: EnrichOptions) -> ReadOptions:
    keys = [options.column, *([options.at_column] if options.at_column else [])]
    return ReadOptions(
        input_name(source.path),
        tuple(dict.fromkeys(keys)),
        "as_is" if source.kind.format.is_like(target.kind.format) else "typed",
        options.delimiter,
        options.infer_types,
        options.header,
    )


def _write_options(source: TableFile, target: TableFile, options: EnrichOptions) -> WriteOptions:
    same = source.kind.format is target.kind.format
    return WriteOptions(options.delimiter if same else None, options.header)


@contextmanager
def _background_writer(sink: Sink) -> Iterator[Callable[[pa.RecordBatch], None]]:
    """Yield a function that passes batches to the sink's thread; it raises that thread's errors.

    Afterwards every batch is written or, if the block failed, none is pending.
    """
    waiting: deque[Future[None]] = deque()

    def write(batch: pa.RecordBatch) -> None:
        waiting.append(thread.submit(sink.write, batch))
        if len(waiting) > _WAITING or waiting[0].done():
            waiting.popleft().result()

    with ThreadPoolExecutor(1) as thread:
        try:
            yield write
            while waiting:
                waiting.popleft().result()
        finally:
            for each in waiting:
                each.cancel()


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
        """Enrich one file; raises OutputError or TableFileError and leaves an old output."""
        origin = TableFile(source, kind_of(source, input_format, "--input-format"))
        target = TableFile(output, kind_of(output, output_format, "--output-format"))
        if target.kind.format.writer is None:
            problem = f"{target.kind.format.name} is read only"
            raise TableFileError(output, problem, "name another by --output-format")
        self._check_level(output, [target])
        if output != STANDARD:
            check_other(source, output)
            check_file(Path(output), force=self._force)
        self._enrich(origin, target, 0.0, 1.0)

    def folder(self, source: Path, output: Path, output_format: str | None) -> None:
        """Enrich all files of a tree that are not done; stops at the first unusable file."""
        found = tree(source, output, output_format)
        self._check_level(str(output), [task.target for task in found.tasks])
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
        self._files = _file_counts(len(due), len(found.tasks) - len(due), found.others)

    def _check_level(self, output: str, targets: list[TableFile]) -> None:
        """Raise TableFileError for a level of compression that no output has."""
        compressed = any(each.kind.compression == ".gz" for each in targets)
        if self._options.compression_level is not None and not compressed:
            problem = "--compression-level is for .gz outputs only"
            raise TableFileError(output, problem, "leave it out, or name a .gz")

    def _stamp(self, task: Task) -> str:
        return stamp(task, self._options, self._engine.metadata.generation)

    def _is_done(self, task: Task, record: Record, expected: str) -> bool:
        """Say whether the output is up to date; raises for a file that no earlier run made."""
        output = Path(task.target.path)
        if self._force or not output.exists():
            return False
        if record.is_done(task.name, expected):
            return True
        check_file(output, force=record.knows(task.name))
        return False

    def _enrich(self, source: TableFile, target: TableFile, before: float, share: float) -> None:
        def step(fraction: float | None) -> None:
            whole = None if fraction is None else before + fraction * share
            self._progress.show(self._counts.rows, whole)

        try:
            enrich_file(self._engine, source, target, self._options, self._counts, step)
        finally:
            self._progress.clear()

    def report(self) -> str:
        """Return the closing line, after a line for each file with malformed lines."""
        counts, seconds = self._counts, self._progress.seconds
        parts = [
            f"{counts.rows:,} rows",
            f"{counts.located:,} located",
            f"{counts.unknown:,} unknown",
            f"{counts.invalid:,} invalid",
            f"{counts.private:,} private",
        ]
        closing = "; ".join([", ".join(parts) + f" in {seconds:.1f} s", *self._files])
        return "\n".join([*counts.malformed, closing])


def _file_counts(made: int, skipped: int, others: int) -> list[str]:
    told = [f"{made:,} files made"]
    if skipped:
        told.append(f"{skipped:,} made before and left as they are")
    if others:
        told.append(f"{others:,} of no format known here left out")
    return [", ".join(told)]
