"""Files without a header: their columns come from a layout, which the first rows must fit."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.sources.reading import delimited, sniffing
from geolookup_builder.sources.reading.inputs import Member, members
from geolookup_builder.sources.reading.plans import Planner, Reading
from geolookup_builder.sources.reading.product_files import PlannedFile, tables
from geolookup_builder.sources.reading.reader import SourceTable
from geolookup_builder.sources.reading.text import Layout

COMMAS = Layout((), frozenset(), frozenset(), header=False)
TABS = Layout((), frozenset(), frozenset(), header=False, delimiter="\t", quoted=False)
#: An end of a range: an address or an integer.
END = re.compile(rf"{sniffing.ADDRESS.pattern}|{sniffing.INTEGER.pattern}")
#: Returns the table that a file is of, and how it is read. Raises BuildError for other files.
Plan = Callable[[Member, Planner], tuple[str, Reading]]


def headerless_tables(
    spec: SourceSpec,
    suffixes: tuple[str, ...],
    order: Sequence[str],
    plan: Plan,
    emptied: Mapping[str, Mapping[str, int]] = MappingProxyType({}),
) -> Iterator[SourceTable]:
    """Yield the tables of a source, in ``order``; every file is planned before any is read.

    ``emptied`` are the counts of each table, complete once it is read.
    """
    planner, files = Planner(spec), list[tuple[str, PlannedFile]]()
    for member in members(spec.path, spec.base, suffixes):
        table, reading = plan(member, planner)
        files.append((table, (delimited, member, reading)))
    planner.check()
    yield from tables(spec, order, files, emptied=emptied)
