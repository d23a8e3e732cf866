"""The sources of a recipe: read one by one, checked, and overlaid by precedence.

A source of files is read table by table. A dataset is overlaid as a whole, or, if it is below all
others, left as it is: ``spliced`` then puts the answers of the others into it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from geolookup.dataset.metadata import Metadata
from geolookup.errors import BuildError
from geolookup.progress import Progress
from geolookup.remote.key import Mask, mask_of
from geolookup.signing.keys import PrivateKey
from geolookup_builder import expected_rows
from geolookup_builder.bands import underlay_partition
from geolookup_builder.build_report import BuildReport, SourceReport
from geolookup_builder.columns import IN_MEMORY
from geolookup_builder.datasets import layers
from geolookup_builder.datasets.origins import Origin
from geolookup_builder.datasets.source import DatasetSource
from geolookup_builder.enrichment import Finder
from geolookup_builder.gather import SourceRows
from geolookup_builder.layer_values import LayerValues
from geolookup_builder.layers import nothing
from geolookup_builder.memory import release
from geolookup_builder.recipe.document import Recipe, SourceSpec
from geolookup_builder.rejects import Rejects, write_rejects
from geolookup_builder.restrictions.restricted import RestrictedSource
from geolookup_builder.restrictions.restricted_dataset import restricted
from geolookup_builder.sources import READERS, auto
from geolookup_builder.sources.reading import stated_dates
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.reader import SourceTable
from geolookup_builder.spill import Spill
from geolookup_builder.table_reading import flatten_table, read_table
from geolookup_builder.values import Reference


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a build: its output, rejected rows and remote sources."""

    force: bool = False
    rejects: Path | None = None
    max_rejects: int | None = None  # per source table; None: 1 % of its rows
    cache: Path | None = None  # of downloaded files; None: the user's cache folder
    offline: bool = False  # use the cache only, without any request
    rows_before: Metadata | None = None  # of an earlier dataset: ``max_drop`` compares with it
    signing_keys: tuple[PrivateKey, ...] = ()  # the keys that sign the dataset
    max_memory: str | int | None = None  # such as "2GB"; None: three quarters of free memory


def mask_of_sources(recipe: Recipe) -> Mask:
    """Return the mask that hides the keys in the addresses of a recipe."""
    return mask_of(spec.remote for spec in recipe.sources if spec.remote is not None)


class OverlaidSources:
    """The sources of a recipe read so far, overlaid: ``partitions`` has the answers by family."""

    def __init__(
        self,
        plan: Recipe,
        reference: Reference,
        finders: tuple[Finder, ...],
        options: Options,
        progress: Progress,
        spill: Spill,
    ) -> None:
        self.spill = spill
        self.plan, self.reference, self.finders = plan, reference, finders
        self.options, self.progress = options, progress
        layers = plan.schema.layers
        self.layers = {layer: LayerValues(layer, plan.schema) for layer in layers}
        self.partitions = {family: nothing(family, layers) for family in (4, 6)}
        self.columns = IN_MEMORY  # where the steps after the overlay put their columns
        self.rejects: list[Rejects] = []
        self.report = BuildReport(warnings=list(plan.warnings))
        self._rows_before = expected_rows.rows_before(options.rows_before)
        self.origins: list[Origin] = []  # of each source
        self.below: DatasetSource | None = None  # the last source, if all others are spliced in
        self.datasets: dict[int, DatasetSource] = {}  # by index among the sources
        self.reports: dict[int, SourceReport] = {}  # of datasets

    def add(self, spec: SourceSpec) -> None:
        """Read a source, and overlay its tables below the earlier ones."""
        for values in self.layers.values():
            values.begin_source()
        before, files = len(self.report.sources), dict[str, Member]()
        source = (
            RestrictedSource(spec, self.layers, self.reference, self.finders)
            if spec.restriction
            else None
        )
        for table in auto.with_note(spec, READERS[spec.format].read(spec)):
            files |= self._add_table(spec, table, source)
            expected_rows.check_releases(spec.expected, sorted(files))
        if source is not None:
            with self.progress.stage(f"restricting {spec.name}"):
                for family, layers in source.finish(self.report.warnings).items():
                    self.partitions[family] = underlay_partition(
                        self.partitions[family], layers, self.spill
                    )
        self._check_some(spec, self.report.sources[before:])
        rows = sum(table.used for table in self.report.sources[before:])
        self._check_drop(spec, rows)
        # Only if the recipe states none: a packed MMDB is unpacked again for its date.
        stated_date = READERS[spec.format].stated_date
        date = spec.texts.get("date") or stated_dates.oldest(files.values(), stated_date)
        self.origins.append(Origin.of_files(spec, rows, date))

    def add_dataset(self, spec: SourceSpec, dataset: DatasetSource) -> None:
        """Overlay a dataset below the earlier sources, and join its sources to the manifest."""
        for values in self.layers.values():
            values.begin_source()
        report = dataset.report()
        self.report.sources.append(report)
        if spec.restriction:
            with self.progress.stage(f"restricting {dataset.name}"):
                dataset = restricted(spec, dataset, report, self.report.warnings)
        self._check_some(spec, [report])
        self._check_drop(spec, dataset.source_rows(), dataset.name)
        if self._is_below_all(spec, dataset):
            self.below = dataset
        else:
            self._overlay_dataset(spec, dataset)
        self.datasets[len(self.origins)] = dataset
        self.reports[len(self.origins)] = report
        self.origins.append(Origin.of_dataset(dataset))
        release()

    def _is_below_all(self, spec: SourceSpec, dataset: DatasetSource) -> bool:
        """Return whether the sources above a dataset can be spliced into it, row by row."""
        plan = self.plan
        is_whole = not spec.restriction and spec.fields >= plan.schema.by_source_column.keys()
        is_last, is_only = spec is plan.sources[-1], not self.datasets
        has_own_rules = plan.fields is not None or plan.countries is not None
        changes_rows = bool(self.finders) or has_own_rules
        own = [field.path for field in dataset.schema.own]
        has_fields = own in ([], [field.path for field in plan.schema.own])
        return is_whole and is_last and is_only and has_fields and not changes_rows

    def _overlay_dataset(self, spec: SourceSpec, dataset: DatasetSource) -> None:
        """Overlay a dataset below the earlier sources."""
        with self.progress.stage(f"reading {dataset.name}"):
            partitions = layers.partitions(dataset, self.layers, spec.fields)
            for family, partition in partitions.items():
                self.partitions[family] = underlay_partition(
                    self.partitions[family], partition, self.spill
                )

    def _check_some(self, spec: SourceSpec, tables: list[SourceReport]) -> None:
        """Compare the rows of a source with the demands of its recipe."""
        path = spec.remote.safe_uri if spec.remote else str(spec.base / spec.path)
        try:
            expected_rows.check_some(spec.expected, spec.recipe, path, tables, self.options.rejects)
        except BuildError:
            self.write_rejects()
            raise

    def _check_drop(self, spec: SourceSpec, rows: int, name: str = "") -> None:
        """Compare the rows of a source with an earlier dataset; ``name`` is of a dataset."""
        name = name or spec.name
        warning = expected_rows.check_drop(
            spec.expected, spec.recipe, name, rows, self._rows_before
        )
        if warning:
            self.report.warnings.append(f"{name}: {warning}")

    def _add_table(
        self, spec: SourceSpec, table: SourceTable, source: RestrictedSource | None
    ) -> dict[str, Member]:
        """Read and overlay a table; return its files by their labels."""
        report = SourceReport(table.name, note=table.note)
        self.report.sources.append(report)
        keys = spec.restriction.keys()
        rows = SourceRows(self.layers, self.reference, report, spec, self.spill, keys)
        reading = read_table(table, rows, report, self.progress)
        self._check_rejects(reading.rejects, report)
        release()
        with self.progress.stage(f"flattening {table.name}"):
            partitions = source.partitions if source else self.partitions
            intervals = flatten_table(rows, report, partitions, self.spill)
        release()

        if source is not None:
            source.add(report, intervals)
        return {numbers.member.label: numbers.member for numbers in reading.files}

    def _check_rejects(self, rejects: Rejects, report: SourceReport) -> None:
        self.rejects.append(rejects)
        try:
            options, mask = self.options, mask_of_sources(self.plan)
            rejects.check_limit(report, options.max_rejects, mask, options.rejects)
        except BuildError:
            self.write_rejects()
            raise

    def write_rejects(self) -> None:
        """Write the rejected rows and invalid values, if the options name a file for them."""
        path = self.options.rejects
        if path is not None:
            write_rejects(path, self.rejects, mask_of_sources(self.plan))
