"""Checks a recipe or data: a build whose dataset is removed again.

Each source is read by the steps of a build. A build stops at the first error; a check notes it, and
goes on with the next source. If no source has one, the dataset is written to a temporary folder,
measured, and compared with the demands of the recipe and an earlier dataset. Nothing is
downloaded, and the cache does not change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from geolookup.dataset.manifest import read_manifest
from geolookup.dataset.sizes import file_sizes
from geolookup.errors import BuildError
from geolookup.progress import Progress
from geolookup.remote.key import hide_keys
from geolookup_builder.check_report import RecipeCheck, SourceCheck
from geolookup_builder.compile import check_quality, dataset_written, sources_of
from geolookup_builder.downloads import missing_source, with_cached_path
from geolookup_builder.limits import Options
from geolookup_builder.memory import peak, system_memory
from geolookup_builder.overlaid_sources import OverlaidSources, mask_of_sources
from geolookup_builder.recipe import loading
from geolookup_builder.recipe.document import Recipe, SourceSpec
from geolookup_builder.sources import auto
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
