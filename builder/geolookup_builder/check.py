"""Checks a recipe or data without making a dataset: each source is read as a build reads it.

A build stops at the first error; a check goes on with the next source. Nothing is downloaded, and
the cache does not change.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any

from geolookup.contract.fields import OWN_PREFIX
from geolookup.contract.schema import Schema
from geolookup.errors import BuildError
from geolookup.progress import Progress
from geolookup.remote.key import Mask, hide_keys
from geolookup_builder import demands, expected_rows
from geolookup_builder.build_report import SourceReport
from geolookup_builder.check_report import Limits, RecipeCheck, SourceCheck, TableCheck
from geolookup_builder.datasets.source import open_source
from geolookup_builder.downloads import NotInCacheError, missing_source, with_cached_path
from geolookup_builder.enrichment import Finder, finders
from geolookup_builder.gather import SourceRows
from geolookup_builder.layer_values import LayerValues
from geolookup_builder.memory import MemoryBudget, release, system_memory
from geolookup_builder.overlaid_sources import mask_of_sources
from geolookup_builder.recipe import loading
from geolookup_builder.recipe.document import Recipe, SourceSpec
from geolookup_builder.recipe.field_names import near_column
from geolookup_builder.restrictions.restricted import RestrictedSource
from geolookup_builder.restrictions.restricted_dataset import restricted
from geolookup_builder.sources import FORMATS, READERS, auto
from geolookup_builder.sources.formats.generic_mapping import recipe_columns
from geolookup_builder.sources.reading.delimited import silent_invalid_rows
from geolookup_builder.sources.reading.inputs import label_in_recipe, paths
from geolookup_builder.sources.reading.reader import SourceTable
from geolookup_builder.sources.reading.sniffing import NearMissError
from geolookup_builder.spill import Spill
from geolookup_builder.table_reading import TableReading, flatten_table, read_table
from geolookup_builder.values import Reference, load_reference

_BAD_ROWS = 10  # listed of each table


def check_recipe(name: str | PathLike[str], limits: Limits, progress: Progress) -> RecipeCheck:
    """Read the sources of a recipe or of data (``loading``), and return the findings."""
    return check_loading(RecipeCheck(str(name), limits), partial(loading.load, name), progress)


def check_loading(
    report: RecipeCheck, load: Callable[[], Recipe], progress: Progress
) -> RecipeCheck:
    """Load a recipe, read its sources, and add the findings to a report."""
    try:
        recipe = load()
    except BuildError as error:
        if not Path(report.recipe).exists():
            raise
        report.problems.append(str(error))
        return report
    report.is_data = bool(report.recipe) and recipe.path.suffix != loading.SUFFIX
    mask = mask_of_sources(recipe)
    with (
        system_memory(),
        silent_invalid_rows(),
        hide_keys(mask),
        closing(Spill(MemoryBudget.of(report.limits.max_memory))) as spill,
    ):
        reference, of_recipe = _reference(recipe, report)
        _check_truth(recipe, report)
        for spec in recipe.sources:
            path = spec.remote.safe_uri if spec.remote else spec.path
            report.sources.append(SourceCheck(spec.name, path))
            checker = _SourceChecker(
                report.sources[-1],
                reference,
                of_recipe,
                report.limits,
                mask,
                progress,
                recipe.schema,
                spill,
            )
            checker.check(spec)
            release()
        if all(source.skipped for source in report.sources):
            report.problems.append(f"{recipe.path}: all sources are missing")
    return report


def _reference(recipe: Recipe, report: RecipeCheck) -> tuple[Reference, Sequence[Finder]]:
    """Return the table of countries and the finders.

    If the recipe's have an error, it is the packaged table, without finders.
    """
    try:
        reference = load_reference(recipe.countries)
        return reference, finders(recipe, reference)
    except BuildError as error:
        report.problems.append(str(error))
        return load_reference(None), ()


def _check_truth(recipe: Recipe, report: RecipeCheck) -> None:
    try:
        demands.check_truth(recipe.quality, recipe.path)
    except BuildError as error:
        report.problems.append(str(error))


class _SourceChecker:
    """The check of one source, noted in its report."""

    def __init__(
        self,
        report: SourceCheck,
        reference: Reference,
        finders: Sequence[Finder],
        limits: Limits,
        mask: Mask,
        progress: Progress,
        schema: Schema,
        spill: Spill,
    ) -> None:
        self._spill = spill
        self._report, self._reference, self._limits = report, reference, limits
        self._finders = finders
        self._mask, self._progress = mask, progress
        self._layers = {layer: LayerValues(layer, schema) for layer in schema.layers}

    def check(self, spec: SourceSpec) -> None:
        """Read a source to its end, or to the error that would end a build."""
        with self._noted():
            if spec.expected.may_be_missing and spec.remote is None:
                self._report.skipped = missing_source(spec)
                if self._report.skipped:
                    return
            local = with_cached_path(spec, self._limits.cache)
            if local.is_dataset:
                self._read_dataset(local)
                return
            self._report.files = _sizes(local)
            self._read_on(local, {})

    def _read_on(self, spec: SourceSpec, suggested: Mapping[str, Any]) -> None:
        """Read a source; after a near miss, again with the options that its error suggests.

        A build ends at the near miss. But bad rows and other problems should not hide behind it.
        """
        try:
            source = auto.detect_format(spec, FORMATS)
            self._report.format, self._report.reason = source.format, source.detection
            if source.is_dataset:
                self._read_dataset(source)
                return
            self._report.tables.clear()
            self._report.suggested = dict(suggested)
            self._read(source)
        except NearMissError as error:
            self._report.suggested = {}
            options = {k: v for k, v in error.options.items() if k not in spec.options}
            if not options:
                raise
            self._report.problem = self._report.problem or str(error)
            again = replace(spec, options={**spec.options, **options})
            self._read_on(again, {**suggested, **options})

    @contextmanager
    def _noted(self) -> Iterator[None]:
        """Note a BuildError of the block as the problem, unless there is one already."""
        try:
            yield
        except BuildError as error:
            self._report.problem = self._report.problem or str(error)
            self._report.is_missing = isinstance(error, NotInCacheError)

    def _read(self, spec: SourceSpec) -> None:
        labels: set[str] = set()
        source = RestrictedSource(spec, self._layers, self._reference, self._finders)
        for table in READERS[spec.format].read(spec):
            labels |= self._read_table(spec, table, source)
            expected_rows.check_releases(spec.expected, sorted(labels))
        if spec.restriction:
            source.finish(self._report.warnings)
        reports = [table.rows for table in self._report.tables]
        expected_rows.check_some(spec.expected, spec.recipe, str(spec.base / spec.path), reports)

    def _read_dataset(self, spec: SourceSpec) -> None:
        """Read a dataset and note its counts and fields."""
        self._report.format = spec.format
        with open_source(spec) as dataset:
            report = dataset.report()
            known = dataset.known_fields()
            if spec.restriction:
                restricted(spec, dataset, report, self._report.warnings)
        names = dict.fromkeys((name for name in known if name in spec.fields), "")
        dropped = tuple(name for name in known if name not in spec.fields)
        self._report.tables.append(TableCheck(report, (), names, dropped, {}, ()))
        path = str(spec.base / spec.path)
        expected_rows.check_some(spec.expected, spec.recipe, path, [report])

    def _read_table(
        self, spec: SourceSpec, table: SourceTable, source: RestrictedSource
    ) -> set[str]:
        """Read a table and note its counts; return the labels of its files."""
        report = SourceReport(table.name, note=table.note)
        keys = spec.restriction.keys()
        rows = SourceRows(self._layers, self._reference, report, spec, self._spill, keys)
        reading = read_table(table, rows, report, self._progress)
        with self._progress.stage(f"flattening {table.name}"):
            if spec.restriction:
                intervals = flatten_table(rows, report, source.partitions, self._spill)
                source.add(report, intervals)
            else:
                flatten_table(rows, report, {}, self._spill)
        self._report.tables.append(_table_check(spec, report, reading, self._mask))
        with self._noted():
            reading.rejects.check_limit(report, self._limits.max_rejects, self._mask)
        return {numbers.member.label for numbers in reading.files}


def _sizes(spec: SourceSpec) -> dict[str, int]:
    """Return the bytes of each file of a source; a table in memory has no files."""
    if "table" in spec.options:
        return {}
    files = (file for file in paths(spec.path, spec.base, ("",)) if file.is_file())
    return {label_in_recipe(str(file), spec.path, spec.base): file.stat().st_size for file in files}


def _table_check(
    spec: SourceSpec, report: SourceReport, reading: TableReading, mask: Mask
) -> TableCheck:
    def label(text: str) -> str:
        return mask(label_in_recipe(text, spec.path, spec.base))

    members = dict.fromkeys(numbers.member.label for numbers in reading.files)
    columns = spec.options.get("columns")
    mapping = recipe_columns(spec, columns) if isinstance(columns, dict) else {}
    unread = dict.fromkeys(name for numbers in reading.files for name in numbers.unread)
    return TableCheck(
        report,
        tuple(map(label, members)),
        {name: str(mapping.get(name, "")) for name in reading.fields if name in spec.fields},
        tuple(name for name in reading.fields if name not in spec.fields),
        {name: _near_field(name, reading.fields) if mapping else "" for name in unread},
        tuple(
            replace(row, file=label(row.file), text=mask(row.text))
            for row in islice(reading.rejects.find_all(mask), _BAD_ROWS)
        ),
        _further(reading, mapping.values()),
    )


def _further(reading: TableReading, mapped: Collection[object]) -> tuple[str, ...]:
    """Return the own columns that the files of a table offer and the recipe does not ask for."""
    offered = dict.fromkeys(name for numbers in reading.files for name in numbers.offered)
    return tuple(
        name for name in offered if OWN_PREFIX + name not in reading.fields and name not in mapped
    )


def _near_field(column: str, used: Mapping[str, None]) -> str:
    """Return the field that a column of this name may be, if no other column is that field."""
    name = near_column(column)
    return name if name is not None and name not in used else ""
