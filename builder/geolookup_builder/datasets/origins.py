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
from numpy.typing import NDArray

from geolookup.dataset.intervals import overlay
from geolookup.dataset.metadata import Source
from geolookup.errors import BuildError
from geolookup_builder.columns import Columns, JoinedIntervals
from geolookup_builder.datasets.source import DatasetSource
from geolookup_builder.layers import Provenance, coverage
from geolookup_builder.recipe.document import MAX_SOURCES, SourceSpec


@dataclass(frozen=True, slots=True)
class Origin:
    """The sources in the manifest that one source of the recipe stands for."""

    sources: Sequence[Source]
    #: of a dataset, by family: which of ``sources`` decided each layer, from 1
    provenance: Mapping[int, Provenance] = field(default_factory=dict)

    @classmethod
    def of_files(cls, spec: SourceSpec, rows: int, date: str | None) -> Origin:
        """Return a source that is not a dataset, with its usable rows and its date."""
        texts: dict[str, Any] = {**spec.texts, "name": spec.name, "date": date}
        return cls([Source(format=spec.format, rows=rows, **texts)])

    @classmethod
    def of_dataset(cls, dataset: DatasetSource) -> Origin:
        """Return the sources behind a dataset."""
        sources = [replace(source, dataset=dataset.name) for source in dataset.metadata.sources]
        return cls(sources, dataset.provenance())


@dataclass(frozen=True, slots=True)
class Origins:
    """The sources of a manifest with their coverage, and the provenance by family."""

    sources: Sequence[Source]
    provenance: dict[int, Provenance]
    dropped: Sequence[int]  # by source of the recipe: sources behind it that decide nothing


def with_datasets(
    families: Mapping[int, Provenance], origins: Sequence[Origin], columns: Columns
) -> dict[int, Provenance]:
    """Replace numbers of sources of the recipe with numbers of all origins' sources."""
    begins = _begins(origins)
    return {
        family: _with_datasets(slots, family, origins, begins, columns)
        for family, slots in families.items()
    }


def _begins(origins: Sequence[Origin]) -> list[int]:
    return [0, *accumulate(len(origin.sources) for origin in origins)]


def resolve(
    recipe: Path, full: Mapping[int, Provenance], origins: Sequence[Origin], columns: Columns
) -> Origins:
    """Number the sources of the manifest. ``full`` has numbers of all origins' sources.

    Raises BuildError for more sources than a dataset may have.
    """
    begins = _begins(origins)
    sources = list(chain.from_iterable(origin.sources for origin in origins))
    coverages = coverage(full, len(sources), columns)
    is_kept = np.array(
        [
            not origin.provenance or bool(coverages[begin + at])
            for origin, begin in zip(origins, begins, strict=False)
            for at in range(len(origin.sources))
        ],
        bool,  # not of numbers if there is no source at all
    )
    if is_kept.sum() > MAX_SOURCES:
        problem = f"{is_kept.sum()} sources with those behind datasets, at most {MAX_SOURCES}"
        raise BuildError(recipe, f"{problem} are allowed", remedy="name fewer sources")
    return Origins(
        [
            replace(source, coverage=addresses)
            for source, addresses, is_kept_one in zip(sources, coverages, is_kept, strict=True)
            if is_kept_one
        ],
        {
            family: _renumbered(family, provenance, is_kept, columns)
            for family, provenance in full.items()
        },
        [int(np.count_nonzero(~part)) for part in np.split(is_kept, begins[1:-1])],
    )


def _with_datasets(
    slots: Provenance,
    family: int,
    origins: Sequence[Origin],
    begins: Sequence[int],
    columns: Columns,
) -> Provenance:
    """Return the provenance with the sources behind datasets, numbered over all origins."""
    # begins 0, 1, 3: the numbers 1, 2 and 4 for the first source of each.
    first = np.array([0, *(begin + 1 for begin in begins[:-1])], np.uint16)
    starts = slots.starts
    numbers = {
        layer: columns.looked_up(first, of_layer) for layer, of_layer in slots.sources.items()
    }
    for slot, origin in enumerate(origins, 1):
        if origin.provenance:
            of_dataset = origin.provenance[family]
            starts, (before, within) = overlay([starts, of_dataset.starts])
            numbers = {layer: of_layer[before] for layer, of_layer in numbers.items()}
            for layer, of_layer in numbers.items():
                is_here = of_layer == first[slot]
                if layer in of_dataset.sources and is_here.any():
                    behind = of_dataset.sources[layer][within[is_here]].astype(np.uint16)
                    of_layer[is_here] = np.where(behind, behind + first[slot] - np.uint16(1), 0)
    return Provenance(starts, numbers)


def _renumbered(
    family: int, provenance: Provenance, is_kept: NDArray[np.bool_], columns: Columns
) -> Provenance:
    """Return the provenance without the sources that are not kept; neighbours are joined."""
    # Kept yes, no, yes: the numbers 0, 1, 1 (decides nothing), 2.
    numbers = np.append(0, np.cumsum(is_kept)).astype(np.uint8)
    size = len(provenance.starts)
    kinds = dict.fromkeys(provenance.sources, np.uint8)
    joined = JoinedIntervals(columns, family, kinds)
    for part in columns.chunks(size):
        sources = {layer: numbers[of[part]] for layer, of in provenance.sources.items()}
        joined.append(provenance.starts[part], sources)
    return Provenance(*joined.finish())
