"""The report of a dataset: its sections in order."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from os import PathLike

import geolookup
from geolookup.comparison.joint_intervals import FAMILIES
from geolookup.comparison.score import Score
from geolookup.dataset.files import Dataset
from geolookup.dataset.metadata import Metadata
from geolookup.errors import count_text, short_id
from geolookup.pictures import wording
from geolookup.reports.address_maps import address_map_section
from geolookup.reports.changes import (
    Difference,
    change_section,
    change_sentences,
    change_view,
)
from geolookup.reports.dataset.places import places_section
from geolookup.reports.dataset.summary import coverage_section, credits_section, summary_section
from geolookup.reports.dataset.views import Facts, read_facts
from geolookup.reports.ranges import ranges_section
from geolookup.reports.section import Section
from geolookup.reports.truth import truth_section


def head(path: str | PathLike[str], changed: Difference | None = None) -> tuple[str, str]:
    """Return the title of the report, and the paragraph under it.

    The title names datasets, not where they lie. The paragraph states what has changed, and the
    number of sources and the size of the dataset.
    """
    with geolookup.open(path) as engine:
        about = engine.metadata
    sources = count_text(len(about.sources), "source")
    text = f"Generation {short_id(about.generation)}, of {sources}, {wording.size(about.bytes)}."
    if changed is None:
        return _labels([about])[0], text
    before, after = _labels([changed.overlaid.old.manifest.metadata(), about])
    return f"From {before} to {after}", " ".join([*change_sentences(changed), text])


def _labels(datasets: Sequence[Metadata]) -> list[str]:
    """Return name and date of each dataset; its generation if the dates do not tell them apart."""
    dates = [max((source.date or "" for source in about.sources), default="") for about in datasets]
    if not all(dates) or len(set(dates)) < len(dates):
        dates = [f"generation {short_id(about.generation)}" for about in datasets]
    return [
        f"{_name(about.name)}, {wording.name(date)}"
        for about, date in zip(datasets, dates, strict=True)
    ]


def _name(name: str) -> str:
    """Return the name of a dataset as shown; a folder of a store is named by its generation."""
    is_generation = re.fullmatch("[0-9a-f]{64}", name)
    return short_id(name) if is_generation else wording.name(name)


def sections(
    path: str | PathLike[str],
    changed: Difference | None = None,
    scored: Score | None = None,
    rows: str | None = None,
) -> Iterator[Section]:
    """Yield the sections of a dataset, or of a store's current generation: the map first.

    ``changed`` is its difference from an older dataset, ``scored`` only its score.
    ``rows`` is the path of a file with all changed ranges, relative to the page.
    """
    with geolookup.open(path) as engine:
        dataset = Dataset(engine.path)
    facts = read_facts(dataset)
    maps = _address_maps(facts, changed)
    yield from [first] if (first := next(maps, None)) else []
    if changed is not None:
        yield change_section(changed)
        yield from filter(None, [ranges_section(changed, rows)])
    yield summary_section(facts)
    if scored is not None:
        yield truth_section(scored)
    yield from maps
    yield places_section(facts)
    yield coverage_section(facts)
    yield credits_section(facts.metadata)


def _address_maps(facts: Facts, changed: Difference | None) -> Iterator[Section]:
    """Yield the map of each family with known addresses; changes come first."""
    for family in FAMILIES:
        views = [] if changed is None else [change_view(changed, family)]
        if (section := address_map_section([*views, *facts.views[family]])) is not None:
            yield section
