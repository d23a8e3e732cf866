"""Checks a recipe or data: a build whose dataset is removed again.

Each source is read by the steps of a build. A build stops at the first error; a check notes it, and
goes on with the next source. If no source has one, the dataset is written to a temporary folder,
measured, and compared with the demands of the recipe and an earlier dataset. Nothing is
downloaded, and the cache does not change.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from functools import partial
from itertools import islice
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from geolookup.dataset.manifest import read_manifest
from geolookup.dataset.sizes import file_sizes
from geolookup.errors import BuildError, count_text
from geolookup.filesystem.cache import default_folder
from geolookup.progress import Progress
from geolookup.remote.transfer import ask
from geolookup_builder import demands
from geolookup_builder.build_options import Options
from geolookup_builder.check_report import Against, RecipeCheck, SourceCheck
from geolookup_builder.compile import compiling, dataset_written, sources_of
from geolookup_builder.downloads import NotInCacheError, missing_source, with_cached_path
from geolookup_builder.memory import peak
from geolookup_builder.overlaid_sources import OverlaidSources, mask_of_sources
from geolookup_builder.recipe import loading
from geolookup_builder.recipe.document import Recipe, SourceSpec
from geolookup_builder.sources import FORMATS, auto
from geolookup_builder.sources.guesses import changed
from geolookup_builder.sources.reading.inputs import label_in_recipe, paths

_BAD_ROWS = 10  # listed of each table
_T = TypeVar("_T")


def check_recipe(
    name: str | PathLike[str],
    options: Options,
    progress: Progress,
    against: str | PathLike[str] | None = None,
    load: Callable[[], Recipe] | None = None,
) -> RecipeCheck:
    """Check a recipe or data; ``against`` is a dataset or store to compare with.

    ``load`` returns the recipe; None: that of the name. ``name`` is empty if a call names the
    sources.
    """
    name = str(name)
    report = RecipeCheck(name, *(_commands(name, options) if name else ()))
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
    report.is_data = bool(name) and recipe.path.suffix != loading.SUFFIX
    with compiling(recipe), TemporaryDirectory(prefix="geolookup-") as folder:
        _Check(report, recipe, options, progress).run(Path(folder, "dataset"))
    return report


def _commands(name: str, options: Options) -> tuple[str, str]:
    """Return the commands that build a recipe, and that download its sources."""
    limits = [
        f"--{limit.replace('_', '-')}={value}"
        for limit in ("max_rejects", "max_nulled", "max_memory")
        if (value := getattr(options, limit)) is not None
    ]
    cache = [] if options.cache is None else [f"--cache={options.cache}"]
    return (
        shlex.join(["geolookup", "build", name, "-o", "DIR", *limits, *cache]),
        shlex.join(["geolookup", "update", name, "--download-only", *cache]),
    )


class _Check:
    """One check, noted in its report."""

    def __init__(
        self, report: RecipeCheck, recipe: Recipe, options: Options, progress: Progress
    ) -> None:
        self._report, self._recipe = report, recipe
        self._options, self._progress = options, progress

    def run(self, output: Path) -> None:
        """Read the sources, and write the dataset at ``output`` if none has a problem."""
        recipe, report = self._recipe, self._report
        with self._noted():
            demands.check_truth(recipe.quality, recipe.path)
        detected = list(self._detected())
        plan = replace(recipe, sources=tuple(spec for spec, _ in detected))
        checks = {id(spec): check for spec, check in detected}
        if not detected and all(source.skipped for source in report.sources):
            report.problems.append(f"{recipe.path}: all sources are missing")
        if not detected:
            return

        def guard(spec: SourceSpec) -> AbstractContextManager[object]:
            return self._noted(checks[id(spec)])

        with (
            self._noted(),
            sources_of(plan, self._options, self._progress, output, guard) as overlaid,
        ):
            for number, spec in enumerate(overlaid.plan.sources):
                check = detected[number][1]
                if not (spec.is_dataset and check.problem):
                    self._read(check, overlaid, number + 1, spec)
            if not report.has_problem:
                self._write(overlaid, output)
            report.warnings += overlaid.report.warnings

    @contextmanager
    def _noted(self, check: SourceCheck | None = None) -> Iterator[None]:
        """Note a BuildError of the block, of a source or of the recipe itself."""
        try:
            yield
        except BuildError as error:
            if check is None:
                self._report.problems.append(str(error))
            else:
                check.problem = check.problem or str(error)
                check.is_missing = isinstance(error, NotInCacheError)
                check.suggested.clear()

    def _detected(self) -> Iterator[tuple[SourceSpec, SourceCheck]]:
        """Yield the sources whose files are there and whose format is known, and their reports."""
        for spec in self._recipe.sources:
            check = SourceCheck(spec.name, spec.remote.safe_uri if spec.remote else spec.path)
            self._report.sources.append(check)
            if spec.expected.may_be_missing and spec.remote is None:
                check.skipped = missing_source(spec)
            if check.skipped:
                continue
            with self._noted(check):
                local = self._local(check, spec)
                source = _after_near_misses(
                    check, local, partial(auto.detect_format, formats=FORMATS)
                )
                check.format, check.reason = source.format, source.detection
                yield replace(source, detection=""), check  # stated once

    def _local(self, check: SourceCheck, spec: SourceSpec) -> SourceSpec:
        """Return a source with a local path, and note its files, or the size of a download."""
        try:
            local = with_cached_path(spec, self._options.cache)
        except NotInCacheError:
            with suppress(BuildError), self._progress.stage(f"asking for the size of {spec.name}"):
                if spec.remote is not None:
                    cache = self._options.cache or default_folder()
                    size = ask(spec.remote, spec.sha256, cache).bytes
                    check.to_download = "" if size is None else count_text(size, "byte")
            raise
        if not (local.is_dataset or "table" in local.options):  # they have no files
            check.files = {
                label_in_recipe(str(file), local.base): file.stat().st_size
                for file in paths(local.path, local.base, ("",))
                if file.is_file()
            }
        return local

    def _read(
        self, check: SourceCheck, overlaid: OverlaidSources, number: int, spec: SourceSpec
    ) -> None:
        """Read a source to its end, or to the error that would end a build."""
        tables, rejects = len(overlaid.report.sources), len(overlaid.rejects)

        def add(source: SourceSpec) -> None:
            del overlaid.report.sources[tables:], overlaid.rejects[rejects:]
            overlaid.add(number, source)

        with self._noted(check):
            _after_near_misses(check, spec, add)
        check.tables = overlaid.report.sources[tables:]
        mask = mask_of_sources(self._recipe)
        for of_table in overlaid.rejects[rejects:]:
            for row in islice(of_table.find(mask), _BAD_ROWS):
                file = mask(label_in_recipe(row.file, spec.base))
                check.bad_rows.append(replace(row, file=file, text=mask(row.text)))

    def _write(self, overlaid: OverlaidSources, output: Path) -> None:
        """Write the dataset for its size, and to compare it with demands and gates."""
        report, plan, earlier = self._report, overlaid.plan, self._options.earlier
        with dataset_written(overlaid, output) as (folder, _):
            report.memory = peak()
            report.counts, report.coverage = overlaid.report.counts, overlaid.report.coverage
            report.files = file_sizes(read_manifest(folder))
            warnings = overlaid.report.warnings
            report.quality = demands.check(plan.quality, plan.path, folder, earlier, warnings)
            if earlier is not None:
                report.against = Against.of(earlier, folder, plan)


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
        again = changed(spec, error)
        if again is None:
            raise
        check.problem = check.problem or str(error)
        check.suggested |= {k: v for k, v in again.options.items() if k not in spec.options}
        return _after_near_misses(check, again, step)
