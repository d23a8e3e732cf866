"""The report of a dataset: which sections it has, in which order."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike
from pathlib import Path

import geolookup
from geolookup.comparison.overlay import FAMILIES
from geolookup.comparison.scoring import Score
from geolookup.dataset.files import Dataset
from geolookup.pictures import texts
from geolookup.reports.address_maps import address_map_section
from geolookup.reports.changes.difference import Difference, change_view
from geolookup.reports.changes.moved import moved_section
from geolookup.reports.changes.section import change_section
from geolookup.reports.dataset.countries import countries_section
from geolookup.reports.dataset.coverage import coverage_section
from geolookup.reports.dataset.facts import Facts, read_facts
from geolookup.reports.dataset.files import files_section
from geolookup.reports.dataset.located import located_section
from geolookup.reports.dataset.networks import networks_section
from geolookup.reports.dataset.prefix_lengths import prefix_lengths_section
from geolookup.reports.dataset.sources import sources_section
from geolookup.reports.dataset.summary import summary_section
from geolookup.reports.dataset.views import dataset_views
from geolookup.reports.licences_section import licences_section
from geolookup.reports.section import Section
from geolookup.reports.truth.section import truth_section


def title(path: str | PathLike[str]) -> str:
    """Return the title of the report: it names the dataset, not where it lies."""
    with geolookup.open(path) as engine:
        return f"Report of {texts.name(engine.metadata.name)}"


def sections(
    path: str | PathLike[str], changed: Difference | None = None, scored: Score | None = None
) -> Iterator[Section]:
    """Yield the sections of a dataset, or of a store's current generation.

    ``changed`` is its difference from an older dataset, ``scored`` its score alone.
    """
    with geolookup.open(path) as engine:
        dataset = Dataset(engine.path)
    facts = read_facts(dataset)
    yield summary_section(facts)
    if changed is not None:
        yield change_section(changed)
        yield from filter(None, [moved_section(changed)])
    if scored is not None:
        yield truth_section(scored)
    yield from _address_maps(facts, changed)
    yield located_section(facts)
    yield coverage_section(facts)
    yield countries_section(facts)
    yield networks_section(facts)
    yield prefix_lengths_section(facts)
    yield sources_section(facts)
    yield licences_section(facts.metadata)
    yield files_section(Path(dataset.path))


def _address_maps(facts: Facts, changed: Difference | None) -> Iterator[Section]:
    """Yield the map of each family of which anything is known; what changed comes first."""
    for family in FAMILIES:
        views = [] if changed is None else [change_view(changed, family)]
        shown = address_map_section([*views, *dataset_views(facts.dataset, facts.tables, family)])
        if shown is not None:
            yield shown
