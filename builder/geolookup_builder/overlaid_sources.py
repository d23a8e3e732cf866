"""The sources of a recipe: read one by one, checked, and overlaid by precedence.

A source of files is read table by table; a dataset is one table. If a dataset is below all other
sources, only its part in their space is overlaid: ``datasets.below`` puts the result into it.
"""

from __future__ import annotations

from collections.abc import Mapping

from geolookup.errors import BuildError
from geolookup.progress import Progress
from geolookup.remote.key import Mask, mask_of
from geolookup_builder import expected_rows
from geolookup_builder.bands import underlay_partition
from geolookup_builder.build_options import Options
from geolookup_builder.build_report import BuildReport, SourceReport
from geolookup_builder.columns import IN_MEMORY, Columns
from geolookup_builder.datasets import below
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
from geolookup_builder.sources import READERS, auto
from geolookup_builder.sources.reading import stated_dates
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.spill import Spill
from geolookup_builder.table_reading import flatten_table, read_table
from geolookup_builder.tables import CountryRecord
from geolookup_builder.values import Reference


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
        opened: Mapping[int, DatasetSource],
    ) -> None:
        self._opened = opened  # the sources that are datasets, by index
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
        self.below: DatasetSource | None = None  # the last source, if all others are put into it

    def add(self, number: int, spec: SourceSpec) -> None:
        """Read a source, numbered from 1, and overlay its tables below the earlier ones."""
        for values in self.layers.values():
            values.begin_source()
        before, dataset = len(self.report.sources), self._opened.get(number - 1)
        kept = self._restricted(spec, dataset) if spec.restriction else None
        if dataset is None:
            files = self._read_files(spec, kept)
        else:
            self._read_dataset(spec, dataset, kept)
        if kept is not None:
            with self.progress.stage(f"restricting {spec.name}"):
                for family, layers in kept.finish(self.report.warnings).items():
                    self.partitions[family] = underlay_partition(
                        self.partitions[family], layers, self.spill
                    )
        tables = self.report.sources[before:]
        self._check_some(spec, tables)
        if dataset is None:
            rows = sum(table.used for table in tables)
            self._check_drop(spec, rows, spec.name)
            # Only if the recipe states none: a packed MMDB is unpacked again for its date.
            stated_date = READERS[spec.format].stated_date
            date = spec.texts.get("date") or stated_dates.oldest(files.values(), stated_date)
            self.origins.append(Origin.of_files(spec, rows, date))
        else:
            self._check_drop(spec, dataset.source_rows(), dataset.name)
            self.origins.append(Origin.of_dataset(dataset, tables[0]))
        if self.spill.is_used:
            self.columns = Columns(self.spill)
        release()

    def _restricted(self, spec: SourceSpec, dataset: DatasetSource | None) -> RestrictedSource:
        countries = self.countries(dataset)
        return RestrictedSource(spec, self.layers, self.reference, self.finders, countries)

    def countries(self, *datasets: DatasetSource | None) -> list[CountryRecord]:
        """Return the rows of datasets for the country table, the first of each pair of codes.

        They state what the answers of a dataset state, unless the recipe has a table of its own.
        """
        own = self.reference.countries if self.plan.countries else {}
        return [
            record
            for dataset in reversed(datasets)
            for record in (dataset.countries() if dataset else ())
            if record["country_code"] not in own
        ]

    @property
    def datasets(self) -> list[DatasetSource]:
        """The sources that are datasets."""
        return [*self._opened.values()]

    def _read_files(self, spec: SourceSpec, kept: RestrictedSource | None) -> dict[str, Member]:
        """Read and overlay the tables of files; return the files by their labels."""
        files = dict[str, Member]()
        for table in auto.with_note(spec, READERS[spec.format].read(spec)):
            report = SourceReport(table.name, note=table.note)
            self.report.sources.append(report)
            rows = self._rows(spec, report)
            reading = read_table(table, rows, report, self.progress)
            self._check_rejects(reading.rejects, report)
            release()
            self._flatten(rows, report, report, kept)
            files |= {numbers.member.label: numbers.member for numbers in reading.files}
            expected_rows.check_releases(spec.expected, sorted(files))
        return files

    def _read_dataset(
        self, spec: SourceSpec, dataset: DatasetSource, kept: RestrictedSource | None
    ) -> None:
        """Overlay a dataset, or note that the sources above are to be put into it."""
        report = dataset.report()
        self.report.sources.append(report)
        fields = spec.fields
        intervals = {family: part.known for family, part in dataset.partitions.items()}
        if self._is_below_all(spec, dataset):
            self.below, fields = dataset, below.fields_beside(self.plan.schema)
            intervals = {
                family: below.intervals_beside(self.partitions[family], part)
                for family, part in dataset.partitions.items()
            }
        # Nothing of a dataset is clipped, covered or excluded: its intervals are counted above.
        counts = SourceReport(dataset.name)
        rows = self._rows(spec, counts)
        with self.progress.stage(f"reading {dataset.name}"):
            dataset.add_to(rows, self.layers, fields, intervals)
        self._flatten(rows, counts, report, kept)

    def _rows(self, spec: SourceSpec, report: SourceReport) -> SourceRows:
        keys = spec.restriction.keys()
        return SourceRows(self.layers, self.reference, report, spec, self.spill, keys)

    def _flatten(
        self,
        rows: SourceRows,
        counts: SourceReport,
        report: SourceReport,
        kept: RestrictedSource | None,
    ) -> None:
        """Overlay the rows of a table; ``report`` gets the counts of those that are left out."""
        with self.progress.stage(f"flattening {report.name}"):
            partitions = kept.partitions if kept else self.partitions
            intervals = flatten_table(rows, counts, partitions, self.spill)
        if kept is not None:
            kept.add(report, intervals)
        release()

    def _is_below_all(self, spec: SourceSpec, dataset: DatasetSource) -> bool:
        """Return whether the sources above can be put into a dataset, row by row."""
        plan = self.plan
        is_whole = not spec.restriction and spec.fields >= plan.schema.by_source_column.keys()
        is_last, is_only = spec is plan.sources[-1], len(self._opened) == 1
        has_own_rules = plan.fields is not None or plan.countries is not None
        own = [field.path for field in dataset.schema.own]
        has_fields = own in ([], [field.path for field in plan.schema.own])
        keeps_rows = has_fields and not self.finders and not has_own_rules
        return is_whole and is_last and is_only and keeps_rows

    def _check_some(self, spec: SourceSpec, tables: list[SourceReport]) -> None:
        """Compare the rows of a source with the demands of its recipe."""
        path = spec.remote.safe_uri if spec.remote else str(spec.base / spec.path)
        try:
            expected_rows.check_some(spec.expected, spec.recipe, path, tables, self.options.rejects)
        except BuildError:
            self.write_rejects()
            raise

    def _check_drop(self, spec: SourceSpec, rows: int, name: str) -> None:
        """Compare the rows of a source with an earlier dataset."""
        warning = expected_rows.check_drop(
            spec.expected, spec.recipe, name, rows, self._rows_before
        )
        if warning:
            self.report.warnings.append(f"{name}: {warning}")

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
