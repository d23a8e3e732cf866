"""Compiles a recipe into a dataset; the steps are in the order of the data flow.

``recipe`` -> ``sources`` (rows) -> ``ranges`` -> ``gather`` (rows of a table, disjoint
intervals) -> ``layers`` (sources overlaid) -> ``intern`` (distinct rows of the dataset) ->
``tables`` -> ``output_files``.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path

import pyarrow as pa

from geolookup.dataset import layout as fmt
from geolookup.dataset.arrow_files import generation
from geolookup.dataset.manifest import Manifest, is_dataset
from geolookup.dataset.public_ranges import any_known
from geolookup.errors import BuildError, QualityError
from geolookup.filesystem import atomic, limits
from geolookup.filesystem.ownership import FOLDER_MODE
from geolookup.integrity import VerifiedDataset
from geolookup.kernel import check_kernel
from geolookup.parallel import alongside
from geolookup.progress import Progress
from geolookup.remote.key import hide_keys
from geolookup.signing.statement import SIGNATURE, serial_in, signed_statement
from geolookup_builder import demands, output_files
from geolookup_builder.build_report import BuildReport, Demand
from geolookup_builder.columns import Columns, Partition
from geolookup_builder.dataset_source import DatasetSource, open_source, with_own_columns
from geolookup_builder.downloads import accept, refusing, with_local_paths, with_strict_cache
from geolookup_builder.enrichment import finders
from geolookup_builder.intern import intern
from geolookup_builder.limits import Options
from geolookup_builder.memory import MemoryBudget, release, system_memory
from geolookup_builder.overlaid_sources import OverlaidSources, mask_of_sources, resolve
from geolookup_builder.recipe.document import Recipe
from geolookup_builder.sources import auto
from geolookup_builder.tables import CountryRecord, provenance_tables, tables
from geolookup_builder.values import load_reference


def compile_recipe(
    recipe: Recipe, output: Path, options: Options, progress: Progress
) -> tuple[BuildReport, VerifiedDataset]:
    """Build the dataset of a recipe at ``output``, and verify it; on an error write nothing."""
    began = time.monotonic()
    if options.rejects is not None:
        atomic.check_file(options.rejects, force=True)
    check_kernel()
    atomic.check_folder(output, force=options.force, replaceable=is_dataset)
    if options.force and options.earlier is None and is_dataset(output):
        options = replace(options, earlier=output)
    with sources_read(recipe, options, progress, output) as overlaid:
        with dataset_written(overlaid, output) as (folder, verified):
            if problems := demands.failures(check_quality(overlaid, folder), recipe.path):
                raise QualityError(problems, overlaid.report)
            if options.signing_keys:
                text = (folder / fmt.MANIFEST).read_bytes()
                # The serial exceeds that of the replaced dataset.
                signed = signed_statement(text, options.signing_keys, serial_in(output))
                output_files.write(folder / SIGNATURE, signed)
            overlaid.report.bytes = sum(path.stat().st_size for path in folder.iterdir())
        accept(overlaid.plan.sources, options.cache)
        overlaid.report.seconds = time.monotonic() - began
        return overlaid.report, verified.with_folder(output)


@contextmanager
def sources_read(
    recipe: Recipe, options: Options, progress: Progress, output: Path
) -> Iterator[OverlaidSources]:
    """Yield the sources of a recipe, overlaid."""
    with system_memory(), hide_keys(mask_of_sources(recipe)):
        checked = with_strict_cache(recipe) if options.signing_keys else recipe
        local = with_local_paths(checked, options.cache, progress, offline=options.offline)
        guard = partial(refusing, options.cache)
        plan = auto.detect_formats(local, guard)
        with sources_of(plan, options, progress, output, guard) as overlaid:
            for number, spec in enumerate(overlaid.plan.sources, 1):
                with guard(spec):
                    overlaid.add(number, spec)
            yield overlaid


@contextmanager
def sources_of(
    plan: Recipe,
    options: Options,
    progress: Progress,
    output: Path,
    guard: auto.Guard = nullcontext,
) -> Iterator[OverlaidSources]:
    """Yield the sources of a recipe before they are read; paths are local, formats are named."""
    reference = load_reference(plan.countries)
    # Datasets stay open until the end: their files are mapped.
    with ExitStack() as opened:
        budget = MemoryBudget.of(options.max_memory)
        columns = opened.enter_context(closing(Columns(budget, output)))
        datasets = dict[int, DatasetSource]()
        for number, spec in enumerate(plan.sources):
            if spec.is_dataset:
                with guard(spec):
                    datasets[number] = opened.enter_context(open_source(spec))
        plan = with_own_columns(plan, datasets)
        yield OverlaidSources(
            plan, reference, finders(plan, reference), options, progress, columns, datasets
        )


@contextmanager
def dataset_written(
    overlaid: OverlaidSources, output: Path
) -> Iterator[tuple[Path, VerifiedDataset]]:
    """Yield a staging folder with the verified dataset; rename it to ``output`` afterwards."""
    manifest, tables = dataset_content(overlaid)
    report = overlaid.report
    limits.check_space(output, sum(table.nbytes for table in tables.values()))
    with (
        overlaid.progress.stage("writing"),
        atomic.staged_folder(output, FOLDER_MODE, force=overlaid.options.force) as folder,
    ):
        identify = partial(generation, manifest, tables, overlaid.columns.release)
        # The id is computed from the tables in memory while they are written.
        with alongside(identify) as identity:
            files = output_files.write_tables(folder, tables, overlaid.columns)
        del tables
        release()
        complete = manifest.with_generation(identity(), files)
        # After the tables: a folder without a manifest is not a dataset.
        output_files.write(folder / fmt.MANIFEST, complete.canonical())
        metadata = complete.metadata()
        report.counts, report.coverage = metadata.counts, metadata.coverage
        report.generation = metadata.generation
        report.warn(metadata.sources, overlaid.options.rejects)
        yield folder, output_files.verify(folder, output)


def dataset_content(overlaid: OverlaidSources) -> tuple[Manifest, dict[str, pa.Table]]:
    """Intern the rows; return the manifest without files, and the tables by file name."""
    overlaid.write_rejects()
    plan, columns, report = overlaid.plan, overlaid.columns, overlaid.report
    finders, reference = overlaid.finders, overlaid.reference
    with overlaid.progress.stage("interning"):
        partitions, layers = overlaid.partitions, overlaid.layers
        interned = intern(partitions, layers, reference, finders, report, columns, plan.fields)
        overlaid.partitions, overlaid.layers = {}, {}
        del partitions, layers
        release()
        families, provenance = interned.families, interned.provenance
        _check_known(plan, families)
        number = partial(resolve, plan.path, provenance, overlaid.origins, columns)
        with alongside(number) as numbered:
            content = tables(interned, reference, plan.schema, columns, _countries(overlaid))
        del interned
        release()
        sources, report.decided, provenance = numbered()
        content |= provenance_tables(provenance, columns)
        datasets = overlaid.datasets.values()
        return output_files.manifest(plan, sources, content, finders, datasets), content


def _check_known(plan: Recipe, families: Mapping[int, Partition]) -> None:
    """Raise BuildError if ``dataset.fields`` leaves no value, unless a source may be empty."""
    if plan.fields is None or any(spec.expected.may_be_empty for spec in plan.sources):
        return
    if not any(any_known(part.numbers).any() for part in families.values()):
        problem = "no answer has a value of dataset.fields"
        remedy = "name fields of the sources; 'geolookup check' lists them"
        raise BuildError(plan.path, problem, remedy=remedy)


def _countries(overlaid: OverlaidSources) -> list[CountryRecord]:
    """Return the rows of datasets for the country table, the first of each pair of codes.

    They state what the answers of a dataset state, unless the recipe has a table of its own.
    """
    own = overlaid.reference.countries if overlaid.plan.countries else {}
    datasets = reversed([*overlaid.datasets.values()])
    records = chain.from_iterable(dataset.countries() for dataset in datasets)
    return [record for record in records if record["country_code"] not in own]


def check_quality(overlaid: OverlaidSources, dataset: Path) -> list[Demand]:
    """Check all demands of a recipe on a verified dataset, and note them in the report."""
    plan, report = overlaid.plan, overlaid.report
    earlier = overlaid.options.earlier
    report.quality += [
        *demands.decisions(plan.sources, report.decided),
        *demands.check(plan.quality, plan.path, dataset, earlier, report.warnings),
    ]
    return report.quality
