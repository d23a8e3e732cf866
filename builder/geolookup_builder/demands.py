"""The demands of a recipe, checked on a dataset before it is published.

A demand that is not met is a gate that fails. Truth that cannot be read is unusable input, and so
is an expected value that no answer can have.
"""

from __future__ import annotations

import glob
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from geolookup.dataset.coverage import known_addresses
from geolookup.errors import BuildError, DiffError, TableFileError, count_text
from geolookup_builder.build_report import Demand
from geolookup_builder.recipe.quality import Floor, Quality
from geolookup_builder.recipe.table import recipe_errors
from geolookup_builder.sources.reading.inputs import missing_files

if TYPE_CHECKING:
    from geolookup_builder.recipe.document import SourceSpec
    from geolookup_builder.recipe.expectations import Expectation

#: The addresses that shares of a family are of.
_OF = {"ipv4": "public IPv4 addresses", "ipv6": "IPv6 addresses with any value"}


def check_truth(quality: Quality, recipe: Path) -> None:
    """Raise BuildError if the truth names no file; before a build, not after it."""
    if quality.truth and (missing := missing_files(quality.truth, recipe.parent)):
        remedy = "put it there, or correct the path in the recipe"
        raise BuildError(recipe, f"quality.truth: {missing}", remedy=remedy)


def check(
    quality: Quality, recipe: Path, dataset: Path, earlier: Path | None, warnings: list[str]
) -> list[Demand]:
    """Return all demands, checked on a dataset; BuildError for one that cannot be checked.

    ``earlier`` is the dataset that shares "before" are of. Columns of the truth that are not read
    are added to the warnings.
    """
    return [
        *_answered(quality.expect, recipe, dataset),
        *_covered(quality.min_coverage, dataset, earlier),
        *_scored(quality, recipe, dataset, warnings),
    ]


def decisions(sources: Iterable[SourceSpec], decided: Iterable[int]) -> Iterator[Demand]:
    """Yield the demands on the addresses that each source decides: earlier ones may hide it."""
    for spec, count in zip(sources, decided, strict=True):
        least = spec.expected.min_decided
        if least:
            observed = f"it decides {count_text(count, 'address', 'addresses')} of a layer at most"
            yield Demand(f"min_decided = {least} of {spec.name}", observed, count >= least)


def failures(demands: Iterable[Demand], recipe: Path) -> list[str]:
    """Return a line for each demand that is not met."""
    return [
        f"{recipe}: quality demand failed: {demand.demand}: found {demand.observed};"
        " check the sources, or correct the demand"
        for demand in demands
        if not demand.is_met
    ]


def _answered(expectations: Sequence[Expectation], recipe: Path, dataset: Path) -> Iterator[Demand]:
    if not expectations:
        return
    from geolookup_builder.recipe.expectations import others

    with recipe_errors(recipe, "quality.expect: "):
        for expectation, other in others(dataset, expectations):
            observed = "" if other is None else f"{_value_text(other.value)} at {other.address}"
            yield Demand(f"expect {expectation.text}", observed, other is None)


def _value_text(value: object) -> str:
    return "unknown" if value is None else json.dumps(value, ensure_ascii=False)


def _covered(floors: Sequence[Floor], dataset: Path, earlier: Path | None) -> Iterator[Demand]:
    known = known_addresses(dataset) if floors else {}
    is_compared = any(floor.is_of_before for floor in floors)
    before = known_addresses(earlier) if earlier is not None and is_compared else None
    for floor in floors:
        path = floor.field.path
        of, count = known[floor.family].of, known[floor.family].with_value[path]
        what = _OF[floor.family]
        if floor.is_of_before:
            if before is None:  # nothing that it could lose
                yield Demand(floor.text, "no earlier dataset", is_met=True)
                continue
            # A new own column is not in the earlier dataset.
            of = before[floor.family].with_value.get(path, 0)
            what = f"{floor.family} addresses before"
        observed = f"{count:,} of {of:,} {what} ({count / of if of else 0:.4%})"
        # No address of IPv6 has a value: that is no share of them. Before, it is no loss.
        least = floor.least.least(of if floor.is_of_before else max(of, 1))
        yield Demand(floor.text, observed, count >= least)


def _scored(quality: Quality, recipe: Path, dataset: Path, warnings: list[str]) -> Iterator[Demand]:
    if not quality.truth:
        return
    from geolookup.comparison.gates import measured_text
    from geolookup.comparison.score import score

    path = recipe.parent / quality.truth
    pattern = str(path) if path.exists() else f"{glob.escape(str(recipe.parent))}/{quality.truth}"
    try:
        result = score(dataset, truth=pattern, fail_if=quality.fail_if)
    except (BuildError, TableFileError, DiffError) as error:
        raise BuildError(recipe, f"quality.truth: {error}") from error
    warnings += [
        f"{file.path}: columns not read: {', '.join(file.unread)}"
        for file in result.truth
        if file.unread
    ]
    for verdict in result.gates:
        yield Demand(f'fail_if "{verdict.gate}"', measured_text(verdict), not verdict.failed)
