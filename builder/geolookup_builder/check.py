"""Checks a recipe or data: a build whose dataset is removed again.

Each source is read by the steps of a build. A build stops at the first error; a check notes it, and
goes on with the next source. If no source has one, the dataset is written to a temporary folder,
measured, and compared with the demands of the recipe and an earlier dataset. Nothing is
downloaded, and the cache does not change. The report has the files, format, columns, rows and the
first bad rows of each source.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeVar

from geolookup.contract.fields import OWN_PREFIX
from geolookup.contract.schema import own_field
from geolookup.dataset.manifest import read_manifest
from geolookup.dataset.sizes import file_sizes, size_lines
from geolookup.errors import BuildError, count_text, line_text, listed, short_id
from geolookup.progress import Progress
from geolookup.remote.key import hide_keys
from geolookup_builder.build_report import Demand, SourceReport, dataset_lines
from geolookup_builder.compile import check_quality, dataset_written, sources_of
from geolookup_builder.downloads import NotInCacheError, missing_source, with_cached_path
from geolookup_builder.limits import Options
from geolookup_builder.memory import peak, system_memory
from geolookup_builder.overlaid_sources import OverlaidSources, mask_of_sources
from geolookup_builder.recipe import loading
from geolookup_builder.recipe.document import Recipe, SourceSpec, toml_text
from geolookup_builder.sources import auto
from geolookup_builder.sources.reading.inputs import label_in_recipe, paths
from geolookup_builder.sources.reading.reader import Reject

if TYPE_CHECKING:
    from geolookup.comparison import Comparison

_BAD_ROWS = 10  # listed of each table
_SHOWN = 12  # files or metrics, in the text
_CHARACTERS = 80  # of a bad row, in the text
_T = TypeVar("_T")


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
        yield from ("[dataset]", f"name = {toml_text(line_text(stem))}", "")
        if names := self._own_names():
            declared = toml_text({"type": "text", "private": True})
            yield from ("[columns]", *(f"{name} = {declared}" for name in names), "")
        yield "[[source]]"
        options = {"format": self.format, "path": self.path, **self.suggested}
        yield from (f"{key} = {toml_text(value)}" for key, value in options.items())

    def _own_names(self) -> list[str]:
        """Return the columns to declare if no field is read, because a build needs a value."""
        names = list[str]()
        for table in () if any(table.fields for table in self.tables) else self.tables:
            for name in table.unread:
                with suppress(ValueError):  # no own column can have the name
                    names.append(own_field(name, "text").path.removeprefix(OWN_PREFIX))
        return names


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
        if value and "." not in name  # a metric of one field has a dot
    ]
    yield f"  changed     {listed(changed, _SHOWN) or 'no metric'}"
    held = f"{len(gates) - len(failed)} of {len(gates)} hold"
    yield f"  gates       {held if gates else 'none: the recipe has none, or another name'}"
    yield from (f"  {verdict_line(verdict)}" for verdict in failed)


def check_recipe(
    name: str | PathLike[str],
    options: Options,
    progress: Progress,
    against: str | PathLike[str] | None = None,
    load: Callable[[], Recipe] | None = None,
) -> RecipeCheck:
    """Check a recipe or data; ``against`` is a dataset or store to compare with.

    ``load`` returns the recipe; by default, ``name`` is loaded. ``name`` is empty if a call names
    the sources.
    """
    report = RecipeCheck(name := str(name))
    if against is not None:
        from geolookup.comparison import open_dataset

        options = replace(options, earlier=Path(open_dataset(against).path))
    try:
        recipe = load() if load else loading.load(name)
    except BuildError as error:
        if not Path(name).exists():
            raise
        report.problems.append(str(error))
        return report
    report.warnings += filter(None, [recipe.unguarded()])
    report.is_data = bool(name) and recipe.path.suffix != loading.SUFFIX
    folders = TemporaryDirectory(prefix="geolookup-")
    with system_memory(), hide_keys(mask_of_sources(recipe)), folders as folder, _noted(report):
        detected = list(_detected(report, recipe, options.cache))
        if all(source.skipped for source in report.sources):
            report.problems.append(f"{recipe.path}: all sources are missing")
        elif detected:
            plan = replace(recipe, sources=tuple(spec for spec, _ in detected))
            output = Path(folder, "dataset")
            with sources_of(plan, options, progress, output) as overlaid:
                for number, spec in enumerate(overlaid.plan.sources, 1):
                    _read(detected[number - 1][1], overlaid, number, spec)
                if not report.has_problem:
                    _write(report, overlaid, output)
                report.warnings += overlaid.report.warnings
    return report


@contextmanager
def _noted(check: SourceCheck | RecipeCheck) -> Iterator[None]:
    """Note a BuildError of the block, of a source or of the recipe itself."""
    try:
        yield
    except BuildError as error:
        check.note(error)


def _detected(
    report: RecipeCheck, recipe: Recipe, cache: Path | None
) -> Iterator[tuple[SourceSpec, SourceCheck]]:
    """Yield the sources whose files are there and whose format is known, and their reports."""
    for spec in recipe.sources:
        check = SourceCheck(spec.name, spec.remote.safe_uri if spec.remote else spec.path)
        report.sources.append(check)
        if spec.expected.may_be_missing and spec.remote is None:
            check.skipped = missing_source(spec)
        if check.skipped:
            continue
        with _noted(check):
            local = with_cached_path(spec, cache)
            check.files = _sizes(local)
            source = _after_near_misses(check, local, auto.detect_format)
            check.format, check.reason = source.format, source.detection
            yield replace(source, detection=""), check  # stated once
        if not check.format:
            check.suggested.clear()


def _read(check: SourceCheck, overlaid: OverlaidSources, number: int, spec: SourceSpec) -> None:
    """Read a source to its end, or to the error that would end a build."""
    tables, rejects = len(overlaid.report.sources), len(overlaid.rejects)

    def add(source: SourceSpec) -> None:
        del overlaid.report.sources[tables:], overlaid.rejects[rejects:]
        cells = auto.guessed_cells(source)
        if check.suggested:  # read as the proposed recipe reads it
            source = replace(source, options={**source.options, **cells})
        check.suggested |= cells
        overlaid.add(number, source)

    with _noted(check):
        _after_near_misses(check, spec, add)
    check.tables = overlaid.report.sources[tables:]
    if check.problem and not any(table.used for table in check.tables):
        check.suggested.clear()
    mask = mask_of_sources(overlaid.plan)
    for of_table in overlaid.rejects[rejects:]:
        for row in islice(of_table.find(mask), _BAD_ROWS):
            file = mask(label_in_recipe(row.file, spec.base))
            check.bad_rows.append(replace(row, file=file, text=mask(row.text)))


def _write(report: RecipeCheck, overlaid: OverlaidSources, output: Path) -> None:
    """Write the dataset for its size, and to compare it with demands and gates."""
    built, plan, earlier = overlaid.report, overlaid.plan, overlaid.options.earlier
    with dataset_written(overlaid, output) as (folder, _):
        report.memory, report.files = peak(), file_sizes(read_manifest(folder))
        report.counts, report.coverage = built.counts, built.coverage
        report.quality = check_quality(overlaid, folder)
        if earlier is not None:
            from geolookup.comparison import diff

            # As in an update: gates compare one dataset over time.
            is_same = read_manifest(earlier).metadata().name == plan.name
            report.against = diff(earlier, folder, fail_if=plan.gates if is_same else (), top=0)


def _sizes(spec: SourceSpec) -> dict[str, int]:
    """Return the bytes of each file of a source; a table in memory has no files."""
    if spec.is_dataset or "table" in spec.options:
        return {}
    files = (file for file in paths(spec.path, spec.base, ("",)) if file.is_file())
    return {label_in_recipe(str(file), spec.base): file.stat().st_size for file in files}


def _after_near_misses(
    check: SourceCheck, spec: SourceSpec, step: Callable[[SourceSpec], _T]
) -> _T:
    """Take a step with a source; after a near miss again, with the options that its error suggests.

    A build ends at the near miss. But bad rows and other problems should not hide behind it. If no
    format reads a file, the options are guessed from its content.
    """
    try:
        return step(spec)
    except BuildError as error:
        again = auto.changed(spec, error)
        if again is None:
            raise
        check.problem = check.problem or str(error)
        check.suggested |= {k: v for k, v in again.options.items() if k not in spec.options}
        return _after_near_misses(check, again, step)
