"""The report of a check: files, format, columns, rows and the first bad rows of each source."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from geolookup.errors import count_text, line_text, name_text, suggestion
from geolookup_builder.build_report import SourceReport
from geolookup_builder.memory import memory_of
from geolookup_builder.recipe.document import toml_text
from geolookup_builder.sources.reading.reader import Reject

_SHOWN = 10  # files, and columns, in the text
_CHARACTERS = 80  # of a bad row, in the text
_MANY_ROWS = 1_000_000  # a report of so many states the memory of the build


@dataclass(frozen=True, slots=True)
class Limits:
    """The options of a build that a check shares: limits and the cache."""

    max_rejects: int | None = None
    cache: Path | None = None
    max_memory: str | int | None = None

    def build_options(self) -> list[str]:
        """Return the options as arguments of ``geolookup build``."""
        limit = [] if self.max_rejects is None else ["--max-rejects", str(self.max_rejects)]
        memory = [] if self.max_memory is None else ["--max-memory", str(self.max_memory)]
        return [*limit, *memory, *self.download_options()]

    def download_options(self) -> list[str]:
        """Return the options as arguments of ``geolookup update --download-only``."""
        return [] if self.cache is None else ["--cache", str(self.cache)]


@dataclass(frozen=True, slots=True)
class TableCheck:
    """One table of a source: its fields, the columns that are not read, and its rows.

    ``dropped`` are fields that the recipe leaves out. ``unread`` are the columns of its files that
    are not read, each with the field that it may be, or none. ``offered`` are the own columns that
    the recipe could declare too.
    """

    rows: SourceReport
    files: tuple[str, ...]
    fields: Mapping[str, str]  # the column of each, "" if the format decides
    dropped: tuple[str, ...]
    unread: Mapping[str, str]
    bad_rows: tuple[Reject, ...]
    offered: tuple[str, ...] = ()

    def lines(self) -> Iterator[str]:
        """Yield the lines of the table."""
        if not self.rows.keys:  # these name the fields and the keys of records
            yield f"  fields      {self._fields() or 'none'}"
        if self.dropped:
            yield f"  left out    {', '.join(self.dropped)} (fields of the recipe)"
        if self.unread:
            yield f"  not read    {_listed(map(_hinted, self.unread.items()))}"
        if self.offered:
            yield f"  offers      {', '.join(self.offered)} (declare own columns in [columns])"
        first, *others = self.rows.lines()
        yield f"  rows        {first.removeprefix(f'{self.rows.name}: ')}"
        yield from others
        for row in self.bad_rows:
            position = f"{row.file}:{row.line}" if row.line else row.file
            yield f"    {position}: {row.reason}: {row.text[:_CHARACTERS]!r}"

    def _fields(self) -> str:
        items = self.fields.items()
        return ", ".join(f"{name} from {column}" if column else name for name, column in items)


def _hinted(column: tuple[str, str]) -> str:
    name, near = column
    return f"{name} ({suggestion(near)})" if near else name


def _listed(texts: Iterable[str]) -> str:
    first, more = list(texts), ""
    if len(first) > _SHOWN:
        more = f" and {len(first) - _SHOWN:,} more"
    return ", ".join(first[:_SHOWN]) + more


@dataclass(slots=True)
class SourceCheck:
    """One source of a recipe: its files, its format, its tables and the error of a build."""

    name: str
    path: str
    files: dict[str, int] = field(default_factory=dict)  # bytes of each
    format: str = ""
    reason: str = ""  # for the format, if it was detected
    tables: list[TableCheck] = field(default_factory=list)
    is_missing: bool = False  # to be downloaded before a build can read it
    skipped: str = ""  # why a build would skip it
    problem: str = ""
    warnings: list[str] = field(default_factory=list)
    suggested: dict[str, Any] = field(default_factory=dict)  # options that the recipe lacks

    def lines(self) -> Iterator[str]:
        """Yield the lines of the source."""
        yield self.name if self.path.endswith(self.name) else f"{self.name}: {self.path}"
        if self.files:
            sizes = (f"{name} ({size:,} bytes)" for name, size in self.files.items())
            yield f"  files       {_listed(sizes)}"
        if self.format:
            reason = f", detected: {self.reason}" if self.reason else ""
            yield f"  format      {self.format}{reason}"
        for table in self.tables:
            if len(self.tables) > 1:
                yield f"  table       {table.rows.name}"
            yield from table.lines()
        yield from (f"  warning     {warning}" for warning in self.warnings)
        if self.skipped:
            yield f"  skipped     {self.skipped}"
        if self.problem:
            yield f"  {'missing' if self.is_missing else 'problem':<11} {self.problem}"

    @property
    def stem(self) -> str:
        """The name of the file, without suffixes."""
        return self.path.partition(".")[0] or self.path

    def recipe_lines(self) -> Iterator[str]:
        """Yield a recipe that reads the source, if its files need the suggested options."""
        yield from ("[dataset]", f"name = {toml_text(name_text(self.stem))}", "", "[[source]]")
        options = {"format": self.format, "path": self.path, **self.suggested}
        yield from (f"{key} = {toml_text(value)}" for key, value in options.items())


@dataclass(slots=True)
class RecipeCheck:
    """A recipe: its sources, and the problems of the recipe itself."""

    recipe: str  # its name; empty if a call names the sources
    limits: Limits = field(default_factory=Limits)
    sources: list[SourceCheck] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    is_data: bool = False  # without a recipe

    @property
    def has_problem(self) -> bool:
        """Whether a build would fail, or cannot start before a download."""
        return bool(self.problems) or any(source.problem for source in self.sources)

    def lines(self) -> Iterator[str]:
        """Yield the report, one line of text each."""
        for source in self.sources:
            yield from map(line_text, source.lines())  # a name may hold control characters
            if not self.is_data:
                yield from (
                    line_text(f"  add         {key} = {toml_text(value)}")
                    for key, value in source.suggested.items()
                )
        yield from (line_text(f"problem: {problem}") for problem in self.problems)
        yield from map(line_text, self._verdict())
        if self.is_data and self.sources[0].suggested:
            data = Path(self.recipe) if Path(self.recipe).name else Path(self.recipe).absolute()
            path = data.with_name(f"{self.sources[0].stem}.toml")
            yield from ("", line_text(f"A recipe to write, such as {path}:"), "")
            yield from map(line_text, self.sources[0].recipe_lines())

    def _verdict(self) -> Iterator[str]:
        """Yield the result, and the command that comes next."""
        missing = sum(source.is_missing for source in self.sources)
        count = len(self.problems) + sum(bool(source.problem) for source in self.sources) - missing
        if count:
            yield f"{count_text(count, 'problem')}: build would fail"
        elif not missing:
            yield from self._memory()
            options = ["-o", "DIR", *self.limits.build_options()]
            yield f"{self._success()}{self._command('; to build it', 'build', *options)}"
        if missing:
            options = ["--download-only", *self.limits.download_options()]
            fetch = self._command("; to fetch", "update", *options)
            yield f"not in the cache: {missing:,}{fetch}"

    def _memory(self) -> Iterator[str]:
        """Yield the memory that a build of many rows takes, unless it is limited."""
        rows = sum(table.rows.read for source in self.sources for table in source.tables)
        if rows >= _MANY_ROWS and self.limits.max_memory is None:
            size = memory_of(rows) / 1e9
            yield f"memory: about {size:.1f} GB; --max-memory limits it"

    def _success(self) -> str:
        """Return that a build would succeed, with all that it would lose."""
        reports = [table.rows for source in self.sources for table in source.tables]
        skipped = sum(bool(source.skipped) for source in self.sources)
        rejected = sum(report.rejected.total() for report in reports)
        nulled = sum(report.nulled.total() for report in reports)
        losses = [f"{count_text(skipped, 'source')} skipped"] if skipped else []
        losses += [f"{count_text(rejected, 'row')} rejected"] if rejected else []
        losses += [f"{count_text(nulled, 'invalid value')} nulled"] if nulled else []
        return f"a build would succeed, with {', '.join(losses)}" if losses else "no problem"

    def _command(self, purpose: str, name: str, *options: str) -> str:
        """Return the command that comes next; empty if the sources have no recipe."""
        command = shlex.join(["geolookup", name, self.recipe, *options])
        return f"{purpose}: {command}" if self.recipe else ""
