"""The sources of a recipe: read one by one, checked, and overlaid by precedence.

A source of files is read table by table; a dataset is one table. While layers are overlaid, a
source of the recipe is one number. Then the number of a dataset becomes the number of the source
behind it, by the dataset's own provenance::

    recipe        1 sites.csv    2 dataset acme-geo (1 City, 2 ASN)    3 fallback.csv
    manifest      1 sites.csv    2 City    3 ASN                       4 fallback.csv

A source behind a dataset that decides no address of the new one has no place in its manifest: no
answer is owed to it. Sources of the recipe always have one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, chain, zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from geolookup.dataset.intervals import join_intervals
from geolookup.dataset.metadata import Source
from geolookup.dataset.runs import join_runs
from geolookup.errors import BuildError
from geolookup.progress import Progress
from geolookup.remote.key import Mask, mask_of
from geolookup_builder import limits
from geolookup_builder.build_report import BuildReport, SourceReport
from geolookup_builder.columns import Columns, Partition
from geolookup_builder.dataset_source import DatasetSource
from geolookup_builder.enrichment import Finder
from geolookup_builder.gather import SourceRows
from geolookup_builder.intern import intern
from geolookup_builder.layer_values import LayerValues
from geolookup_builder.layers import coverage, nothing, restrict, underlay_partition
from geolookup_builder.memory import release
from geolookup_builder.recipe.document import MAX_SOURCES, Recipe, SourceSpec
from geolookup_builder.rejects import Rejects, write_rejects
from geolookup_builder.restrictions import Counted, Restriction, Rows, kept_space
from geolookup_builder.sources import READERS
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.reader import oldest
from geolookup_builder.tables import tables
from geolookup_builder.values import Reference


@dataclass(frozen=True, slots=True)
class Origin:
    """The sources in the manifest that one source of the recipe stands for."""

    sources: Sequence[Source]
    #: of a dataset, by family: which of ``sources`` decided each layer, from 1
    provenance: Mapping[int, Partition] = field(default_factory=dict)
    report: SourceReport | None = None  # of a dataset


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
        options: limits.Options,
        progress: Progress,
        columns: Columns,
        datasets: Mapping[int, DatasetSource],
    ) -> None:
        self.datasets = datasets  # the sources that are datasets, by index
        self.columns = columns
        self.plan, self.reference, self.finders = plan, reference, finders
        self.options, self.progress = options, progress
        layers = plan.schema.layers
        self.layers = {layer: LayerValues(layer, plan.schema) for layer in layers}
        self.partitions = {family: nothing(family, layers) for family in (4, 6)}
        self.rejects: list[Rejects] = []
        self.report = BuildReport(warnings=list(plan.warnings))
        self._rows_before = limits.rows_before(options.earlier)
        self.origins: list[Origin] = []  # of each source

    def add(self, number: int, spec: SourceSpec) -> None:
        """Read a source, numbered from 1, and overlay its tables below the earlier ones."""
        for values in self.layers.values():
            values.begin_source()
        dataset = self.datasets.get(number - 1)
        if dataset is None:
            self.origins.append(self._add_files(spec))
        else:
            self.origins.append(self._add_dataset(spec, dataset))
        release()

    def _add_files(self, spec: SourceSpec) -> Origin:
        """Read and overlay the tables of files; restricted ones are overlaid on each other first.

        ``only`` is evaluated on their joint answers.
        """
        restriction, partitions = spec.restriction, self.partitions
        if restriction:
            partitions = {family: nothing(family, tuple(self.layers)) for family in (4, 6)}
        deciding, files = list[Counted](), dict[str, Member]()
        begin = len(self.rejects)
        note = f"detected {spec.format}: {spec.detection}" if spec.detection else ""
        for table in READERS[spec.format].read(spec):
            report = SourceReport(table.name, note="; ".join(filter(None, (note, table.note))))
            note = ""  # the first table has it
            self.report.sources.append(report)
            rows = SourceRows(self.layers, self.reference, report, spec, self.columns)
            rejects = rows.read(table, self.progress)
            self.rejects.append(rejects)
            release()
            with self.progress.stage(f"flattening {table.name}"):
                owners = rows.flatten(partitions, with_rows=bool(restriction))
                deciding.append((report, owners))
            release()
            members = [numbers.member for numbers, _ in rejects.members.values()]
            files |= {member.label: member for member in members}
            limits.check_releases(spec.expected, sorted(files))
        if restriction:
            with self.progress.stage(f"restricting {spec.name}"):
                rows_of, families = self._answers(restriction, partitions)
                kept = kept_space(spec, spec.name, rows_of, families, deciding, self.report)
                for family, part in partitions.items():
                    self._overlay(restrict(part, kept[family]))
        reports = [report for report, _ in deciding]
        used = sum(report.used for report in reports)
        self._check(spec, reports, used, spec.name, self.rejects[begin:])
        # Only if the recipe states none: a packed MMDB is unpacked again for its date.
        stated_date = READERS[spec.format].stated_date
        date = spec.texts.get("date") or oldest(files.values(), stated_date)
        texts: dict[str, Any] = {**spec.texts, "name": spec.name, "date": date}
        return Origin([Source(format=spec.format, rows=used, **texts)])

    def _add_dataset(self, spec: SourceSpec, dataset: DatasetSource) -> Origin:
        """Overlay the kept part of a dataset."""
        report = dataset.report(spec.fields)
        kept = dict[int, Partition]()
        self.report.sources.append(report)
        if spec.restriction:
            with self.progress.stage(f"restricting {dataset.name}"):
                rows, deciding = Rows(dataset.tables.batches), [(report, dataset.intervals())]
                families = dataset.families
                kept = kept_space(spec, dataset.name, rows, families, deciding, self.report)
        sources = [replace(source, dataset=dataset.name) for source in dataset.metadata.sources]
        used = sum(source.rows or 0 for source in sources)
        self._check(spec, [report], used, dataset.name)
        with self.progress.stage(f"reading {dataset.name}"):
            numbers = dataset.numbers(self.layers, spec.fields)
            for family in self.partitions:
                self._overlay(dataset.partition(family, numbers, kept.get(family)))
            dataset.tables.release()
        return Origin(sources, dataset.provenance(), report)

    def _overlay(self, below: Partition) -> None:
        """Overlay a partition below the earlier sources."""
        family = below.starts.family
        self.partitions[family] = underlay_partition(self.partitions[family], below, self.columns)

    def _answers(
        self, restriction: Restriction, partitions: Mapping[int, Partition]
    ) -> tuple[Rows, Mapping[int, Partition]]:
        """Return the answers of a source by itself: its rows, and its intervals by row."""
        names = {field.source_column for one in restriction.conditions for field in one.fields}
        finders = [finder for finder in self.finders if finder.field in names]
        # The counts of the report are of the whole build, not of one source.
        report, reference = BuildReport(), self.reference
        interned = intern(partitions, self.layers, reference, finders, report, self.columns)
        rows = Rows(tables(interned, reference, self.plan.schema, self.columns))
        return rows, interned.families

    def _check(
        self,
        spec: SourceSpec,
        tables: list[SourceReport],
        rows: int,
        name: str,
        rejects: Sequence[Rejects] = (),
    ) -> None:
        """Compare the counts of a source with its limits, the recipe and an earlier dataset."""
        options, mask = self.options, mask_of_sources(self.plan)
        bounds = {**spec.expected.limits, **options.limits}
        if self.plan.fields is not None:
            for report in tables:
                report.keep(self.plan.fields)
        try:
            counted = zip_longest(tables, rejects)
            limits.check_limits(spec.recipe, counted, bounds, mask, options.rejects)
            limits.check_some(spec, tables, options.rejects)
            before = self._rows_before
            limits.check_demands(spec, name, rows, tables, before, self.report)
        except BuildError:
            self.write_rejects()
            raise

    def write_rejects(self) -> None:
        """Write the rejected rows and invalid values, if the options name a file for them."""
        if self.options.rejects is not None:
            write_rejects(self.options.rejects, self.rejects, mask_of_sources(self.plan))


def resolve(
    recipe: Path, families: Mapping[int, Partition], origins: Sequence[Origin], columns: Columns
) -> tuple[list[Source], list[int], dict[int, Partition]]:
    """Number the sources of the manifest; note in reports how many behind datasets are dropped.

    ``families`` has numbers of the recipe's sources. Returns the sources with their coverage, the
    most addresses of a layer and a family that each source of the recipe decides, and the
    provenance by family. Raises BuildError for more sources than a dataset may have.
    """
    full = {family: _behind_datasets(part, origins) for family, part in families.items()}
    coverages = iter(coverage(full, sum(len(origin.sources) for origin in origins), columns))
    kept, decided = list[Source | None](), list[int]()
    for origin in origins:
        covered = [replace(source, coverage=next(coverages)) for source in origin.sources]
        counts = chain.from_iterable(source.coverage.values() for source in covered)
        decided.append(max((max(count.values()) for count in counts), default=0))
        with_place = [one if one.coverage or not origin.provenance else None for one in covered]
        kept += with_place
        if origin.report is not None and None in with_place:
            origin.report.note += f", {with_place.count(None):,} of them without an address here"
    sources = [source for source in kept if source is not None]
    if len(sources) > MAX_SOURCES:
        problem = f"{len(sources)} sources with those behind datasets, at most {MAX_SOURCES}"
        raise BuildError(recipe, f"{problem} are allowed", remedy="name fewer sources")
    # Kept yes, no, yes: the numbers 0, 1, 1 (decides nothing), 2.
    numbers = np.cumsum([False, *(source is not None for source in kept)]).astype(np.uint8)
    provenance = {
        family: Partition(
            part.starts,
            {layer: columns.looked_up(numbers, of) for layer, of in part.numbers.items()},
        )
        for family, part in full.items()
    }
    return sources, decided, provenance


def _behind_datasets(part: Partition, origins: Sequence[Origin]) -> Partition:
    """Replace numbers of sources of the recipe with numbers of all origins' sources."""
    family = part.starts.family
    if not any(origin.provenance for origin in origins):
        return part
    # 1, 2 and 1 sources: the numbers 1, 2 and 4 for the first source of each.
    firsts = [*accumulate((len(origin.sources) for origin in origins), initial=1)]
    of_recipe = np.array([0, *firsts[:-1]], np.uint16)
    starts, numbers = part.starts, {layer: of_recipe[of] for layer, of in part.numbers.items()}
    for origin, first in zip(origins, firsts, strict=False):
        if origin.provenance:
            behind = origin.provenance[family]
            starts, (before, within) = join_intervals([starts, behind.starts])
            numbers = {layer: of_layer[before] for layer, of_layer in numbers.items()}
            for layer, of_dataset in behind.numbers.items():
                is_here = np.flatnonzero(numbers[layer] == first)
                of_source = of_dataset[within[is_here]].astype(np.uint16)
                numbers[layer][is_here] = np.where(of_source > 0, of_source + (first - 1), 0)
    return Partition(*join_runs(starts, numbers))
