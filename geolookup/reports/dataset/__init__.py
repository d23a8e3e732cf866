"""The report of a dataset: which sections it has, in which order.

A new section is a module of this folder and an entry of ``SECTIONS``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from os import PathLike

import geolookup
from geolookup.comparison.overlay import FAMILIES
from geolookup.comparison.score import Score
from geolookup.dataset.files import Dataset
from geolookup.errors import count_text, short_id
from geolookup.pictures import wording
from geolookup.reports.address_maps import address_map_section
from geolookup.reports.changes import change_section, from_to
from geolookup.reports.dataset.coverage import coverage_section
from geolookup.reports.dataset.facts import Facts, read_facts
from geolookup.reports.dataset.groups import countries_section, networks_section
from geolookup.reports.dataset.places import places_section
from geolookup.reports.dataset.sources import licences_section, sources_section
from geolookup.reports.dataset.summary import summary_section
from geolookup.reports.dataset.views import dataset_views
from geolookup.reports.difference import Difference, change_view
from geolookup.reports.ranges import ranges_section
from geolookup.reports.section import Section
from geolookup.reports.truth import truth_section

#: The sections after the summary, the changes and the address maps, in their order.
SECTIONS: Sequence[Callable[[Facts], Section]] = (
    places_section,
    coverage_section,
    countries_section,
    networks_section,
    sources_section,
    licences_section,
)


def title(path: str | PathLike[str], changed: Difference | None = None) -> str:
    """Return the title of the report: it names datasets, not where they lie."""
    if changed is not None:
        return from_to(changed)
    with geolookup.open(path) as engine:
        return f"Report of {wording.name(engine.metadata.name)}"


def lead(path: str | PathLike[str], changed: Difference | None = None) -> str:
    """Return the paragraph under the title: which dataset, and how large."""
    with geolookup.open(path) as engine:
        about = engine.metadata
    sources = count_text(len(about.sources), "source")
    text = f"Generation {short_id(about.generation)}, of {sources}, {wording.size(about.bytes)}."
    return text if changed is None else f"The changes first, then the newer dataset. {text}"


def sections(
    path: str | PathLike[str],
    changed: Difference | None = None,
    scored: Score | None = None,
    rows: str | None = None,
) -> Iterator[Section]:
    """Yield the sections of a dataset, or of a store's current generation.

    ``changed`` is its difference from an older dataset, ``scored`` only its score.
    ``rows`` is the path of a file with all changed ranges, relative to the page.
    """
    with geolookup.open(path) as engine:
        dataset = Dataset(engine.path)
    facts = read_facts(dataset)
    if changed is not None:
        yield change_section(changed)
        yield from filter(None, [ranges_section(changed, rows)])
    yield summary_section(facts)
    if scored is not None:
        yield truth_section(scored)
    yield from _address_maps(facts, changed)
    for section in SECTIONS:
        yield section(facts)


def _address_maps(facts: Facts, changed: Difference | None) -> Iterator[Section]:
    """Yield the map of each family with known addresses; changes come first."""
    for family in FAMILIES:
        views = [] if changed is None else [change_view(changed, family)]
        views += dataset_views(facts.dataset, facts.tables, family)
        if (section := address_map_section(views)) is not None:
            yield section
