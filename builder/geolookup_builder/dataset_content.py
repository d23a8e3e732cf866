"""The content of a dataset: its tables and its manifest, from the overlaid sources."""

from __future__ import annotations

from functools import partial

import pyarrow as pa

from geolookup.dataset.manifest import Manifest
from geolookup.errors import BuildError
from geolookup.parallel import alongside
from geolookup_builder.datasets.origins import resolve
from geolookup_builder.intern import InternedContent, intern
from geolookup_builder.memory import release
from geolookup_builder.output_files import manifest
from geolookup_builder.overlaid_sources import OverlaidSources
from geolookup_builder.tables import CountryRecord, provenance_tables, tables


def dataset_content(overlaid: OverlaidSources) -> tuple[Manifest, dict[str, pa.Table]]:
    """Intern the rows; return the manifest without files, and the tables by file name."""
    overlaid.write_rejects()
    plan, columns = overlaid.plan, overlaid.columns
    with overlaid.progress.stage("interning"):
        interned = _interned(overlaid)
        intervals = sum(len(part.starts) for part in interned.families.values())
        number = partial(resolve, plan.path, interned.provenance, overlaid.origins, columns)
        with alongside(number, intervals) as numbered:
            countries = _countries(overlaid)
            content = tables(interned, overlaid.reference, plan.schema, columns, countries)
        del interned
        release()
        sources, overlaid.report.decided, provenance = numbered()
        content |= provenance_tables(provenance, columns)
        filled = [finder.field for finder in overlaid.finders]
        of_datasets = [c for source in overlaid.datasets.values() for c in source.metadata.credits]
        return manifest(plan, sources, content, filled, of_datasets), content


def _interned(overlaid: OverlaidSources) -> InternedContent:
    """Return the rows, numbered; release the sources."""
    plan, columns = overlaid.plan, overlaid.columns
    interned = intern(
        overlaid.partitions,
        overlaid.layers,
        overlaid.reference,
        overlaid.finders,
        overlaid.report,
        columns,
        plan.fields,
    )
    may_be_empty = any(spec.expected.may_be_empty for spec in plan.sources)
    if plan.fields is not None and not interned.is_known and not may_be_empty:
        problem = "no answer has a value of dataset.fields"
        remedy = "name fields of the sources; 'geolookup check' lists them"
        raise BuildError(plan.path, problem, remedy=remedy)
    overlaid.partitions, overlaid.layers = {}, {}
    release()
    return interned


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
