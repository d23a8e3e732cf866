"""The report of a check: files, format, columns, rows and the first bad rows of each source."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from geolookup.dataset.sizes import size_lines
from geolookup.errors import BuildError, count_text, line_text, listed, name_text, short_id
from geolookup_builder.build_report import Demand, SourceReport, dataset_lines
from geolookup_builder.downloads import NotInCacheError
from geolookup_builder.recipe.document import toml_text
from geolookup_builder.sources.reading.reader import Reject

if TYPE_CHECKING:
    from geolookup.comparison import Comparison

_SHOWN = 12  # files or metrics, in the text
_CHARACTERS = 80  # of a bad row, in the text


@dataclass(slots=True)
class SourceCheck:
    """One source of a recipe: its files, its format, its tables and the error of a build."""

    name: str
    path: str
    files: Mapping[str, int] = field(default_factory=dict)  # bytes of each
    format: str = ""
    reason: str = ""  # for the format, if it was detected
    tables: list[SourceReport] = field(default_factory=list)
    bad_rows: list[Reject] = field(default_factory=list)  # the first of each table
    is_missing: bool = False  # to be downloaded before a build can read it
    skipped: str = ""  # why a build would skip it
    problem: str = ""
    suggested: dict[str, Any] = field(default_factory=dict)  # options that the recipe lacks

    def note(self, error: BuildError) -> None:
        """Note an error that would end a build."""
        text = str(error)
        if text != self.problem:  # a second reading may meet the same one
            self.problem = f"{self.problem}; then {text}" if self.problem else text
        self.is_missing = isinstance(error, NotInCacheError)

    def lines(self) -> Iterator[str]:
        """Yield the lines of the source."""
        yield self.name if self.path.endswith(self.name) else f"{self.name}: {self.path}"
        if self.files:
            sizes = [f"{name} ({size:,} bytes)" for name, size in self.files.items()]
            yield f"  files       {listed(sizes, _SHOWN)}"
        if self.format:
            reason = f", detected: {self.reason}" if self.reason else ""
            yield f"  format      {self.format}{reason}"
        for table in self.tables:
            if len(self.tables) > 1:
                yield f"  table       {table.name}"
            yield f"  fields      {', '.join(table.fields) or 'none'}"
            if table.offered:
                yield f"  offers      {', '.join(table.offered)} (declare own columns in [columns])"
            first, *others = table.lines()
            yield f"  rows        {first.removeprefix(f'{table.name}: ')}"
            yield from others
        for row in self.bad_rows:
            position = f"{row.file}:{row.line}" if row.line else row.file
            yield f"    {position}: {row.reason}: {row.text[:_CHARACTERS]!r}"
        if self.skipped:
            yield f"  skipped     {self.skipped}"
        if self.problem:
            yield f"  {'missing' if self.is_missing else 'problem':<11} {self.problem}"

    def recipe_lines(self, data: Path) -> Iterator[str]:
        """Yield a recipe that reads the data, if its files need the suggested options."""
        stem = self.path.partition(".")[0] or self.path
        yield from ("", f"A recipe to write, such as {data.with_name(stem)}.toml:", "")
        yield from ("[dataset]", f"name = {toml_text(name_text(stem))}", "", "[[source]]")
        options = {"format": self.format, "path": self.path, **self.suggested}
        yield from (f"{key} = {toml_text(value)}" for key, value in options.items())


@dataclass(slots=True)
class RecipeCheck:
    """A recipe: its sources, the dataset that a build would write, and the recipe's own problems.

    The members after ``warnings`` are known if no source has a problem.
    """

    recipe: str  # its name; empty if a call names the sources
    sources: list[SourceCheck] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    is_data: bool = False  # without a recipe
    warnings: list[str] = field(default_factory=list)
    quality: list[Demand] = field(default_factory=list)
    counts: Mapping[str, int] = field(default_factory=dict)
    coverage: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    files: Mapping[str, int] = field(default_factory=dict)  # bytes of each
    memory: int = 0  # bytes at most that this process has taken
    against: Comparison | None = None  # with an earlier dataset, and the gates of an update

    def note(self, error: BuildError) -> None:
        """Note an error of the recipe itself."""
        self.problems.append(str(error))

    @property
    def has_problem(self) -> bool:
        """Whether a build would fail, or cannot start before a download."""
        return bool(self.problems) or any(source.problem for source in self.sources)

    @property
    def is_refused(self) -> bool:
        """Whether the dataset would not meet ``[quality]``, or not pass the gates of an update."""
        is_unmet = any(not demand.is_met for demand in self.quality)
        return is_unmet or (self.against is not None and bool(self.against.failed))

    def lines(self) -> Iterator[str]:
        """Yield the report, one line of text each."""
        yield from map(line_text, self._lines())  # a name may hold control characters
        if self.is_data and self.sources[0].suggested:
            data = Path(self.recipe) if Path(self.recipe).name else Path(self.recipe).absolute()
            yield from map(line_text, self.sources[0].recipe_lines(data))

    def _lines(self) -> Iterator[str]:
        for source in self.sources:
            yield from source.lines()
            if not (self.is_data and source.problem):
                for key, value in source.suggested.items():
                    yield f"  add         {key} = {toml_text(value)}"
        yield from (f"warning: {warning}" for warning in self.warnings)
        yield from (f"problem: {problem}" for problem in self.problems)
        if self.files:
            yield from dataset_lines(self.counts, self.coverage)
            yield next(size_lines(self.files))
            if self.memory:
                yield f"memory      about {self.memory / 1e9:.2f} GB; --max-memory limits it"
        for demand in self.quality:
            observed = f", found {demand.observed}" if demand.observed else ""
            yield f"quality     {'met' if demand.is_met else 'not met'}: {demand.demand}{observed}"
        if self.against is not None:
            yield from _against(self.against)
        yield from self._verdict()

    def _verdict(self) -> Iterator[str]:
        """Yield the result, and the command that comes next."""
        missing = sum(source.is_missing for source in self.sources)
        count = len(self.problems) + sum(bool(source.problem) for source in self.sources) - missing
        unmet = sum(not demand.is_met for demand in self.quality)
        if count:
            yield f"{count_text(count, 'problem')}: build would fail"
        if unmet:
            yield f"{count_text(unmet, 'demand')} of [quality] not met: build would fail"
        if self.against is not None and self.against.failed:
            yield "a gate of [update] fails: update would refuse the dataset"
        if not (self.has_problem or self.is_refused):
            build = f"; to build it: geolookup build {shlex.quote(self.recipe)} -o DIR"
            yield f"no problem{build if self.recipe else ''}"
        if missing:
            fetch = f"geolookup update {shlex.quote(self.recipe or 'RECIPE')} --download-only"
            yield f"not in the cache: {missing:,}; to fetch: {fetch}"


def _against(comparison: Comparison) -> Iterator[str]:
    """Yield the metrics of the comparison with an earlier dataset, and the gates that fail."""
    from geolookup.comparison.gates import metric_text, verdict_line

    old, gates, failed = comparison.old, comparison.gates, comparison.failed
    yield f"against     {old.name}, generation {short_id(old.generation)}"
    changed = [
        f"{family}.{name} {metric_text(name, value)}"
        for family, part in comparison.parts.items()
        for name, value in part.metrics.items()
        if value and "." not in name  # not those of fields
    ]
    yield f"  changed     {listed(changed, _SHOWN) or 'no metric'}"
    held = f"{len(gates) - len(failed)} of {len(gates)} hold"
    yield f"  gates       {held if gates else 'none: the recipe has none, or another name'}"
    yield from (f"  {verdict_line(verdict)}" for verdict in failed)
