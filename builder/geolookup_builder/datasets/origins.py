"""The sources of the manifest: each source of the recipe, or the sources behind a dataset.

While layers are overlaid, a source of the recipe is one number. Here the number of a dataset
becomes the number of the source behind it, by the dataset's own provenance::

    recipe        1 sites.csv    2 dataset acme-geo (1 City, 2 ASN)    3 fallback.csv
    manifest      1 sites.csv    2 City    3 ASN                       4 fallback.csv

A source behind a dataset that decides no address of the new one has no place in its manifest: no
answer is owed to it. Sources of the recipe always have one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, chain
from pathlib import Path
from typing import Any

import numpy as np

from geolookup.dataset.intervals import overlay
from geolookup.dataset.metadata import Source
from geolookup.errors import BuildError
from geolookup_builder.build_report import SourceReport
from geolookup_builder.columns import Columns
from geolookup_builder.datasets.source import DatasetSource
from geolookup_builder.layers import Provenance, coverage
from geolookup_builder.recipe.document import MAX_SOURCES, SourceSpec


@dataclass(frozen=True, slots=True)
class Origin:
    """The sources in the manifest that one source of the recipe stands for."""

    sources: Sequence[Source]
    #: of a dataset, by family: which of ``sources`` decided each layer, from 1
    provenance: Mapping[int, Provenance] = field(default_factory=dict)
    report: SourceReport | None = None  # of a dataset

    @classmethod
    def of_files(cls, spec: SourceSpec, rows: int, date: str | None) -> Origin:
        """Return a source that is not a dataset, with its usable rows and its date."""
        texts: dict[str, Any] = {**spec.texts, "name": spec.name, "date": date}
        return cls([Source(format=spec.format, rows=rows, **texts)])

    @classmethod
    def of_dataset(cls, dataset: DatasetSource, report: SourceReport) -> Origin:
        """Return the sources behind a dataset."""
        sources = [replace(source, dataset=dataset.name) for source in dataset.metadata.sources]
        return cls(sources, dataset.provenance(), report)


@dataclass(frozen=True, slots=True)
class Origins:
    """The sources of a manifest with their coverage, and the provenance by family.

    ``decided`` has the most addresses of a layer and a family that each source of the recipe
    decides.
    """

    sources: Sequence[Source]
    decided: Sequence[int]
    provenance: dict[int, Provenance]


def with_datasets(
    families: Mapping[int, Provenance], origins: Sequence[Origin], columns: Columns
) -> dict[int, Provenance]:
    """Replace numbers of sources of the recipe with numbers of all origins' sources."""
    # 1, 2 and 1 sources: the numbers 1, 2 and 4 for the first source of each.
    sizes = [len(origin.sources) for origin in origins]
    first = np.array([0, *(begin + 1 for begin in accumulate([0, *sizes[:-1]]))], np.uint16)
    result = {}
    for family, slots in families.items():
        starts = slots.starts
        numbers = {layer: columns.looked_up(first, of) for layer, of in slots.sources.items()}
        for origin, number in zip(origins, first[1:], strict=True):
            if origin.provenance:
                of_dataset = origin.provenance[family]
                starts, (before, within) = overlay([starts, of_dataset.starts])
                numbers = {layer: of_layer[before] for layer, of_layer in numbers.items()}
                for layer, behind in of_dataset.sources.items():
                    is_here = numbers[layer] == number
                    of_source = behind[within[is_here]].astype(np.uint16)
                    numbers[layer][is_here] = np.where(of_source, of_source + number - 1, 0)
        result[family] = Provenance(starts, numbers)
    return result


def resolve(
    recipe: Path, full: Mapping[int, Provenance], origins: Sequence[Origin], columns: Columns
) -> Origins:
    """Number the sources of the manifest; note in reports how many behind datasets are dropped.

    ``full`` has numbers of all origins' sources. Raises BuildError for more sources than a dataset
    may have.
    """
    sources = [*chain.from_iterable(origin.sources for origin in origins)]
    coverages = iter(coverage(full, len(sources), columns))
    kept: list[Source | None] = []
    decided = list[int]()
    for origin in origins:
        covered = [replace(source, coverage=next(coverages)) for source in origin.sources]
        has_place = [one if one.coverage or not origin.provenance else None for one in covered]
        kept += has_place
        families = chain.from_iterable(source.coverage.values() for source in covered)
        decided.append(max((max(counts.values()) for counts in families), default=0))
        if origin.report is not None and None in has_place:
            count = has_place.count(None)
            origin.report.note += f", {count:,} of them without an address here"
    result = [source for source in kept if source is not None]
    if len(result) > MAX_SOURCES:
        problem = f"{len(result)} sources with those behind datasets, at most {MAX_SOURCES}"
        raise BuildError(recipe, f"{problem} are allowed", remedy="name fewer sources")
    # Kept yes, no, yes: the numbers 0, 1, 1 (decides nothing), 2.
    numbers = np.cumsum([False, *(source is not None for source in kept)]).astype(np.uint8)
    provenance = {
        family: Provenance(
            *columns.joined(
                part.starts,
                part.sources,
                dict.fromkeys(part.sources, np.uint8),
                lambda of: {layer: numbers[stated] for layer, stated in of.items()},
            )
        )
        for family, part in full.items()
    }
    return Origins(result, decided, provenance)
