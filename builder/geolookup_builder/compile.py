"""Compiles a recipe into a dataset; the steps are in the order of the data flow.

``recipe`` -> ``sources`` (rows) -> ``ranges`` -> ``gather`` (rows of a table) ->
``table_intervals`` (disjoint intervals) -> ``layers`` (sources overlaid) -> ``complete`` ->
``intern`` (distinct rows of the dataset) -> ``row_numbers`` (as in the previous dataset) ->
``tables`` -> ``output_files``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from os import PathLike
from pathlib import Path

import pyarrow as pa

from geolookup.dataset.arrow_files import generation
from geolookup.dataset.manifest import Manifest, is_dataset
from geolookup.errors import BuildError, QualityError
from geolookup.filesystem import atomic, limits
from geolookup.filesystem.ownership import FOLDER_MODE
from geolookup.integrity import VerifiedDataset
from geolookup.kernel import check_kernel
from geolookup.parallel import alongside
from geolookup.progress import Progress
from geolookup.remote.key import Mask, hide_keys, mask_of
from geolookup.signing.keys import PrivateKey
from geolookup_builder import (
    dataset_layers,
    demands,
    expected_rows,
    loading,
    output_files,
    row_numbers,
)
from geolookup_builder.build_report import BuildReport, SourceReport
from geolookup_builder.dataset_columns import with_own_columns
from geolookup_builder.dataset_source import DatasetSource, open_source
from geolookup_builder.deciding_rows import DecidingRows
from geolookup_builder.downloads import accept, refusing, with_local_paths
from geolookup_builder.enrichment import Finder, finders
from geolookup_builder.flatten import Intervals
from geolookup_builder.gather import SourceRows
from geolookup_builder.intern import InternedContent, intern
from geolookup_builder.layer_values import LayerValues
from geolookup_builder.layers import nothing, underlay
from geolookup_builder.memory import release, system_memory
from geolookup_builder.origins import Origin, Origins, resolve, with_datasets
from geolookup_builder.previous_dataset import NO_PREVIOUS, open_previous
from geolookup_builder.recipe import Recipe, SourceSpec
from geolookup_builder.rejects import Rejects, write_rejects
from geolookup_builder.restricted import RestrictedSource
from geolookup_builder.restricted_dataset import restricted
from geolookup_builder.sources import FORMATS, READERS, auto
from geolookup_builder.sources.reading import stated_dates
from geolookup_builder.sources.reading.delimited import silent_invalid_rows
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.reader import SourceTable
from geolookup_builder.spliced import splice
from geolookup_builder.table_intervals import TableIntervals
from geolookup_builder.table_reading import flatten_table, read_table
from geolookup_builder.tables import CountryRecord, provenance_tables, tables
from geolookup_builder.values import Reference, load_reference


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a build: its output, rejected rows and remote sources."""

    force: bool = False
    rejects: Path | None = None
    max_rejects: int | None = None  # per source table; None: 1 % of its rows
    cache: Path | None = None  # of downloaded files; None: the user's cache folder
    offline: bool = False  # use the cache only, without any request
    previous: Path | None = None  # a dataset: its row numbers are kept, ``max_drop`` compares
    signing_keys: tuple[PrivateKey, ...] = ()  # the keys that sign the dataset


def compile_dataset(
    name: str | PathLike[str], output: Path, options: Options, progress: Progress
) -> BuildReport:
    """Build the recipe or data of a name (``loading``) at ``output``; on an error write nothing."""
    return compile_recipe(loading.load(name), output, options, progress)[0]


def compile_recipe(
    recipe: Recipe, output: Path, options: Options, progress: Progress
) -> tuple[BuildReport, VerifiedDataset]:
    """Build the dataset of a recipe at ``output``, and verify it; on an error write nothing."""
    if options.rejects is not None:
        atomic.check_file(options.rejects, force=True)
    check_kernel()
    atomic.check_folder(output, force=options.force, replaceable=is_dataset)
    with _sources_read(recipe, options, progress) as build:
        return build.finish(output)


def compiled_tables(recipe: Recipe, options: Options, progress: Progress) -> dict[str, pa.Table]:
    """Return the tables of the dataset of a recipe by file name; write nothing."""
    check_kernel()
    with _sources_read(recipe, options, progress) as build:
        return build.content()[1]


@contextmanager
def _sources_read(recipe: Recipe, options: Options, progress: Progress) -> Iterator[_Build]:
    """Yield a build that has read all sources."""
    with system_memory(), silent_invalid_rows(), hide_keys(_mask(recipe)):
        demands.check_truth(recipe.quality, recipe.path)
        local = with_local_paths(recipe, options.cache, progress, offline=options.offline)
        guard = partial(refusing, options.cache)
        plan = auto.detect_formats(local, FORMATS, guard)
        _check_explained(plan)
        reference = load_reference(plan.countries)
        # Datasets stay open until the end: their files are mapped.
        with ExitStack() as opened:
            datasets = dict[int, DatasetSource]()
            for number, spec in enumerate(plan.sources):
                if spec.is_dataset:
                    with guard(spec):
                        datasets[number] = opened.enter_context(open_source(spec))
            plan = with_own_columns(plan, datasets)
            build = _Build(plan, reference, finders(plan, reference), options, progress)
            for number, spec in enumerate(plan.sources, 1):
                with guard(spec):
                    if spec.is_dataset:
                        build.add_dataset(spec, datasets[number - 1])
                    else:
                        build.add(number, spec)
            yield build


def _mask(recipe: Recipe) -> Mask:
    return mask_of(spec.remote for spec in recipe.sources if spec.remote is not None)


def _check_explained(recipe: Recipe) -> None:
    """Refuse the rows of all sources if one is a dataset: it has answers, not rows."""
    for spec in recipe.sources:
        if recipe.explains_rows and spec.is_dataset:
            problem = f'explain = "full" needs rows of files, but {spec.name} is a dataset'
            raise BuildError(recipe.path, problem, remedy="drop explain, or name the files")


class _Build:
    """A build in progress: the sources read so far, overlaid."""

    def __init__(
        self,
        plan: Recipe,
        reference: Reference,
        finders: tuple[Finder, ...],
        options: Options,
        progress: Progress,
    ) -> None:
        self._plan, self._reference, self._finders = plan, reference, finders
        self._options, self._progress = options, progress
        layers = plan.schema.layers
        self._layers = {layer: LayerValues(layer, plan.schema) for layer in layers}
        self._partitions = {family: nothing(family, layers) for family in (4, 6)}
        self._deciding_rows = DecidingRows() if plan.explains_rows else None
        self._rejects: list[Rejects] = []
        self._report = BuildReport(warnings=list(plan.warnings))
        self._previous = (
            NO_PREVIOUS if options.previous is None else open_previous(options.previous)
        )
        self._rows_before = expected_rows.rows_before(self._previous.metadata)
        self._origins: list[Origin] = []  # of each source
        self._below: DatasetSource | None = None  # the last source, if all others are spliced in
        self._datasets: dict[int, DatasetSource] = {}  # by index among the sources
        self._reports: dict[int, SourceReport] = {}  # of datasets

    def add(self, number: int, spec: SourceSpec) -> None:
        """Read a source, numbered from 1, and overlay its tables below the earlier ones."""
        for values in self._layers.values():
            values.begin_source()
        before, files = len(self._report.sources), dict[str, Member]()
        source = (
            RestrictedSource(spec, self._layers, self._reference, self._finders)
            if spec.restriction
            else None
        )
        for table in auto.with_note(spec, READERS[spec.format].read(spec)):
            files |= self._add_table(number, spec, table, source)
            expected_rows.check_releases(spec.expected, sorted(files))
        if source is not None:
            with self._progress.stage(f"restricting {spec.name}"):
                for family, layers in source.finish(self._report.warnings).items():
                    self._partitions[family] = underlay(self._partitions[family], layers)
        self._check_some(spec, self._report.sources[before:])
        rows = sum(table.used for table in self._report.sources[before:])
        self._check_drop(spec, rows)
        # Only if the recipe states none: a packed MMDB is unpacked again for its date.
        stated_date = READERS[spec.format].stated_date
        date = spec.texts.get("date") or stated_dates.oldest(files.values(), stated_date)
        self._origins.append(Origin.of_files(spec, rows, date))

    def add_dataset(self, spec: SourceSpec, dataset: DatasetSource) -> None:
        """Overlay a dataset below the earlier sources, and join its sources to the manifest."""
        for values in self._layers.values():
            values.begin_source()
        report = dataset.report()
        self._report.sources.append(report)
        if spec.restriction:
            with self._progress.stage(f"restricting {dataset.name}"):
                dataset = restricted(spec, dataset, report, self._report.warnings)
        self._check_some(spec, [report])
        self._check_drop(spec, dataset.source_rows(), dataset.name)
        if self._is_below_all(spec, dataset):
            self._below = dataset
        else:
            self._overlay_dataset(spec, dataset)
        self._datasets[len(self._origins)] = dataset
        self._reports[len(self._origins)] = report
        self._origins.append(Origin.of_dataset(dataset))
        release()

    def _is_below_all(self, spec: SourceSpec, dataset: DatasetSource) -> bool:
        """Return whether the sources above a dataset can be spliced into it, row by row."""
        plan = self._plan
        is_whole = not spec.restriction and spec.fields >= plan.schema.by_source_column.keys()
        is_last, is_only = spec is plan.sources[-1], not self._datasets
        has_own_rules = plan.fields is not None or plan.countries is not None
        changes_rows = bool(self._finders) or has_own_rules
        is_new = self._previous is NO_PREVIOUS
        own = [field.path for field in dataset.schema.own]
        has_fields = own in ([], [field.path for field in plan.schema.own])
        return is_whole and is_last and is_only and is_new and has_fields and not changes_rows

    def _overlay_dataset(self, spec: SourceSpec, dataset: DatasetSource) -> None:
        """Overlay a dataset below the earlier sources."""
        with self._progress.stage(f"reading {dataset.name}"):
            partitions = dataset_layers.partitions(dataset, self._layers, spec.fields)
            for family, partition in partitions.items():
                self._partitions[family] = underlay(self._partitions[family], partition)

    def _check_some(self, spec: SourceSpec, tables: list[SourceReport]) -> None:
        """Compare the rows of a source with the demands of its recipe."""
        path = spec.remote.safe_uri if spec.remote else str(spec.base / spec.path)
        try:
            expected_rows.check_some(
                spec.expected, spec.recipe, path, tables, self._options.rejects
            )
        except BuildError:
            self._write_rejects()
            raise

    def _check_drop(self, spec: SourceSpec, rows: int, name: str = "") -> None:
        """Compare the rows of a source with the previous dataset; ``name`` is of a dataset."""
        name = name or spec.name
        warning = expected_rows.check_drop(
            spec.expected, spec.recipe, name, rows, self._rows_before
        )
        if warning:
            self._report.warnings.append(f"{name}: {warning}")

    def _add_table(
        self, number: int, spec: SourceSpec, table: SourceTable, source: RestrictedSource | None
    ) -> dict[str, Member]:
        """Read and overlay a table; return its files by their labels."""
        report = SourceReport(table.name, note=table.note)
        self._report.sources.append(report)
        rows = SourceRows(self._layers, self._reference, report, spec.fields, spec.schema)
        reading = read_table(table, rows, report, self._progress)
        self._check_rejects(reading.rejects, report)
        release()
        with self._progress.stage(f"flattening {table.name}"):
            keep = self._deciding_rows is not None
            overlay = source.overlay if source else self._overlay
            intervals = flatten_table(rows, report, overlay, keep_rows=keep)
        release()

        def explain(of_table: dict[int, Intervals]) -> None:
            if self._deciding_rows is not None:
                with self._progress.stage(f"finding the lines of {table.name}"):
                    self._deciding_rows.add(number, spec, rows, reading.positions, of_table)

        if source is None:
            explain(intervals)
        else:
            source.add(report, intervals, explain)
        return reading.positions.members()

    def _overlay(self, family: int, intervals: TableIntervals) -> None:
        """Overlay the rows of a table below the earlier ones, in the thread of their family."""
        self._partitions[family] = underlay(self._partitions[family], intervals.layers)

    def _check_rejects(self, rejects: Rejects, report: SourceReport) -> None:
        self._rejects.append(rejects)
        try:
            options, mask = self._options, _mask(self._plan)
            rejects.check_limit(report, options.max_rejects, mask, options.rejects)
        except BuildError:
            self._write_rejects()
            raise

    def _write_rejects(self) -> None:
        path = self._options.rejects
        if path is not None:
            write_rejects(path, self._rejects, _mask(self._plan))

    def _check_fields(self, interned: InternedContent) -> None:
        """Raise BuildError if no source states a field that the dataset keeps."""
        may_be_empty = any(spec.expected.may_be_empty for spec in self._plan.sources)
        if self._plan.fields is not None and not interned.is_known and not may_be_empty:
            problem = "no answer has a value of dataset.fields"
            remedy = "name fields of the sources; 'geolookup check' lists them"
            raise BuildError(self._plan.path, problem, remedy=remedy)

    def _content(self, interned: InternedContent) -> tuple[dict[str, pa.Table], Origins]:
        """Return the tables by file name, and the sources of the manifest."""
        if self._below is None:
            content = tables(interned, self._reference, self._plan.schema, self._countries())
            full = with_datasets(interned.provenance, self._origins)
        else:
            above = tables(interned, self._reference, self._plan.schema)
            schema, sources = self._plan.schema, len(self._origins) - 1
            content, full = splice(interned, above, self._below, schema, sources)
            self._below.tables.release()
        origins = resolve(self._plan.path, full, self._origins)
        return content | provenance_tables(origins.provenance), origins

    def _countries(self) -> list[CountryRecord]:
        """Return the rows of datasets for the country table, the first of each pair of codes.

        They state what the answers of a dataset state, unless the recipe has a table of its own.
        """
        own = self._reference.countries if self._plan.countries else {}
        return [
            record
            for dataset in reversed(self._datasets.values())
            for record in dataset_layers.country_records(dataset.batches)
            if record["country_code"] not in own
        ]

    def _note_dropped(self, counts: Sequence[int]) -> None:
        """Note in the report how many sources behind each dataset decide nothing any more."""
        for number, report in self._reports.items():
            if counts[number]:
                report.note += f", {counts[number]:,} of them without an address here"

    def _check_quality(self, dataset: Path) -> None:
        """Raise QualityError if a verified dataset does not meet the demands of its recipe."""
        plan, report = self._plan, self._report
        report.quality = demands.check(plan.quality, plan.path, dataset)
        if problems := demands.failures(report.quality, plan.path):
            raise QualityError(problems, report)

    def content(self) -> tuple[Manifest, dict[str, pa.Table]]:
        """Intern the rows; return the manifest without files, and the tables by file name."""
        self._write_rejects()
        with self._progress.stage("interning"):
            reference, finders = self._reference, self._finders
            interned = intern(
                *(self._partitions, self._layers, reference, finders, self._report),
                self._plan.fields,
            )
            self._check_fields(interned)
            interned = row_numbers.as_in_previous(interned, self._previous)
            explanation = {}
            if self._deciding_rows is not None:
                explanation = self._deciding_rows.tables(self._layers)
            self._partitions, self._layers, self._deciding_rows = {}, {}, None
            release()
            content, origins = self._content(interned)
            del interned
            self._note_dropped(origins.dropped)
            content |= explanation
            release()
            content = row_numbers.with_dictionaries(content, self._previous)
            credit_list = [finder.credit for finder in self._finders if finder.credit is not None]
            of_datasets = [c for source in self._datasets.values() for c in source.metadata.credits]
            manifest = output_files.manifest(
                self._plan, origins.sources, content, credit_list, of_datasets
            )
        return manifest, content

    def finish(self, output: Path) -> tuple[BuildReport, VerifiedDataset]:
        """Write the dataset and rename it to ``output``."""
        manifest, content = self.content()
        limits.check_space(output, sum(table.nbytes for table in content.values()))
        with (
            self._progress.stage("writing"),
            atomic.staged_folder(output, FOLDER_MODE, force=self._options.force) as folder,
        ):
            rows = max(table.num_rows for table in content.values())
            # The id is computed from the tables in memory while they are written.
            with alongside(partial(generation, manifest, content), rows) as identity:
                files = output_files.write_tables(folder, content)
            del content
            release()
            complete = manifest.with_generation(identity(), files, self._previous.of(identity()))
            output_files.write_manifest(folder, complete)
            verified = output_files.verify(folder, output)
            self._check_quality(folder)
            output_files.write_signature(folder, output, self._options.signing_keys)
            self._report.bytes = sum(path.stat().st_size for path in folder.iterdir())
        metadata = complete.metadata()
        self._report.counts, self._report.coverage = metadata.counts, metadata.coverage
        self._report.generation = metadata.generation
        accept(self._plan.sources, self._options.cache)
        self._report.warn(metadata.sources, self._options.rejects)
        self._report.seconds = self._progress.seconds
        return self._report, verified.with_folder(output)
