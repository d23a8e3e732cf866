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

import numpy as np

from geolookup.dataset.intervals import overlay
from geolookup.dataset.metadata import Source
from geolookup.dataset.runs import join_runs
from geolookup.errors import BuildError
from geolookup_builder.build_report import SourceReport
from geolookup_builder.columns import Columns, Partition
from geolookup_builder.layers import coverage
from geolookup_builder.recipe.document import MAX_SOURCES


@dataclass(frozen=True, slots=True)
class Origin:
    """The sources in the manifest that one source of the recipe stands for."""

    sources: Sequence[Source]
    #: of a dataset, by family: which of ``sources`` decided each layer, from 1
    provenance: Mapping[int, Partition] = field(default_factory=dict)
    report: SourceReport | None = None  # of a dataset


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
            starts, (before, within) = overlay([starts, behind.starts])
            numbers = {layer: of_layer[before] for layer, of_layer in numbers.items()}
            for layer, of_dataset in behind.numbers.items():
                is_here = np.flatnonzero(numbers[layer] == first)
                of_source = of_dataset[within[is_here]].astype(np.uint16)
                numbers[layer][is_here] = np.where(of_source > 0, of_source + (first - 1), 0)
    return Partition(*join_runs(starts, numbers))
