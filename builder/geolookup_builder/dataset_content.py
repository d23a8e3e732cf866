"""The content of a dataset: its tables and its manifest, from the overlaid sources."""

from __future__ import annotations

import pyarrow as pa

from geolookup.dataset.manifest import Manifest
from geolookup.errors import BuildError
from geolookup_builder import output_files
from geolookup_builder.datasets.origins import Origins, resolve
from geolookup_builder.intern import InternedContent, intern
from geolookup_builder.memory import release
from geolookup_builder.overlaid_sources import OverlaidSources
from geolookup_builder.tables import CountryRecord, provenance_tables, tables


def dataset_content(overlaid: OverlaidSources) -> tuple[Manifest, dict[str, pa.Table]]:
    """Intern the rows; return the manifest without files, and the tables by file name."""
    overlaid.write_rejects()
    with overlaid.progress.stage("interning"):
        interned = _interned(overlaid)
        content, origins = _tables(overlaid, interned)
        del interned
        release()
        filled = [finder.field for finder in overlaid.finders]
        of_datasets = [c for source in overlaid.datasets.values() for c in source.metadata.credits]
        manifest = output_files.manifest(
            overlaid.plan, origins.sources, content, filled, of_datasets
        )
    return manifest, content


def _interned(overlaid: OverlaidSources) -> InternedContent:
    """Return the rows, numbered; release the sources."""
    reference, finders, columns = overlaid.reference, overlaid.finders, overlaid.columns
    interned = intern(
        *(overlaid.partitions, overlaid.layers, reference, finders, overlaid.report),
        *(columns, overlaid.plan.fields),
    )
    _check_fields(overlaid, interned)
    for partition in overlaid.partitions.values():
        columns.remove(*partition.numbers.values())
    overlaid.partitions, overlaid.layers = {}, {}
    release()
    return interned


def _check_fields(overlaid: OverlaidSources, interned: InternedContent) -> None:
    """Raise BuildError if no source states a field that the dataset keeps."""
    may_be_empty = any(spec.expected.may_be_empty for spec in overlaid.plan.sources)
    if overlaid.plan.fields is not None and not interned.is_known and not may_be_empty:
        problem = "no answer has a value of dataset.fields"
        remedy = "name fields of the sources; 'geolookup check' lists them"
        raise BuildError(overlaid.plan.path, problem, remedy=remedy)


def _tables(
    overlaid: OverlaidSources, interned: InternedContent
) -> tuple[dict[str, pa.Table], Origins]:
    """Return the tables by file name, and the sources of the manifest."""
    columns = overlaid.columns
    countries = _countries(overlaid)
    content = tables(interned, overlaid.reference, overlaid.plan.schema, columns, countries)
    origins = resolve(overlaid.plan.path, interned.provenance, overlaid.origins, columns)
    overlaid.report.decided = origins.decided
    return content | provenance_tables(origins.provenance, columns), origins


def _countries(overlaid: OverlaidSources) -> list[CountryRecord]:
    """Return the rows of datasets for the country table, the first of each pair of codes.

    They state what the answers of a dataset state, unless the recipe has a table of its own.
    """
    own = overlaid.reference.countries if overlaid.plan.countries else {}
    return [
        record
        for dataset in reversed([*overlaid.datasets.values()])
        for record in dataset.countries()
        if record["country_code"] not in own
    ]
