"""The demands of a recipe, checked on a dataset before it is published.

A demand that is not met is a gate that fails. Truth that cannot be read is unusable input, and so
is an expected value that no answer can have.
"""

from __future__ import annotations

import glob
import json
from collections.abc import Iterable, Iterator
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path
from typing import TYPE_CHECKING, Any

import geolookup
from geolookup.dataset.coverage import known_addresses
from geolookup.errors import BuildError, DiffError, TableFileError, count_text
from geolookup_builder.build_report import Demand
from geolookup_builder.recipe.quality import Expectation, Floor, Quality

if TYPE_CHECKING:
    from geolookup_builder.recipe.document import SourceSpec

#: The addresses that shares of a family are of.
_OF = {"ipv4": "public IPv4 addresses", "ipv6": "IPv6 addresses with any value"}


def check(
    quality: Quality, recipe: Path, dataset: Path, earlier: Path | None, warnings: list[str]
) -> list[Demand]:
    """Return all demands, checked on a dataset; BuildError for one that cannot be checked.

    ``earlier`` is the dataset that shares "before" are of. Columns of the truth that are not read
    are added to the warnings.
    """
    return [
        *_answered(quality, recipe, dataset),
        *_covered(quality.min_coverage, dataset, earlier),
        *_scored(quality, recipe, dataset, warnings),
    ]


def decisions(sources: Iterable[SourceSpec], decided: Iterable[int]) -> Iterator[Demand]:
    """Yield the demands on the addresses that each source decides: earlier ones may hide it."""
    for spec, count in zip(sources, decided, strict=True):
        if least := spec.expected.bound("min_decided"):
            observed = f"it decides {count_text(count, 'address', 'addresses')} of a layer at most"
            is_met = count >= least.of(0)
            yield Demand(f"min_decided = {least} of {spec.name}", observed, is_met)


def failures(demands: Iterable[Demand], recipe: Path) -> list[str]:
    """Return a line for each demand that is not met."""
    return [
        f"{recipe}: quality demand failed: {demand.demand}: found {demand.observed};"
        " check the sources, or correct the demand"
        for demand in demands
        if not demand.is_met
    ]


def _answered(quality: Quality, recipe: Path, dataset: Path) -> Iterator[Demand]:
    if not quality.expect:
        return
    with geolookup.open(dataset) as engine:
        for expectation in quality.expect:
            try:
                address = _first_other(engine, expectation)
            except ValueError as error:  # no answer can have the value
                problem, _, remedy = str(error).removeprefix("prefixes: ").partition("; ")
                problem = f"quality.expect: {expectation.text}: {problem}"
                raise BuildError(recipe, problem, remedy=remedy) from error
            observed = ""
            if address is not None:
                value = _value(engine, address, expectation)
                text = "unknown" if value is None else json.dumps(value, ensure_ascii=False)
                observed = f"{text} at {address}"
            yield Demand(f"expect {expectation.text}", observed, address is None)


def _value(
    engine: geolookup.Engine, address: IPv4Address | IPv6Address, expectation: Expectation
) -> Any:
    return engine.get(address, [expectation.field.path])[0]


def _first_other(
    engine: geolookup.Engine, expectation: Expectation
) -> IPv4Address | IPv6Address | None:
    """Return the first address of a network with another value; None if it has none.

    If the first address has the expected value, the prefixes with that value begin there, and end
    before the first address with another one.
    """
    network, path = expectation.network, expectation.field.path
    if not expectation.is_met_by(_value(engine, network[0], expectation)):
        return network[0]
    if network.num_addresses == 1:
        return None
    if not expectation.values:
        prefix = next(engine.prefixes({"not": {path: None}}, within=network), None)
        return None if prefix is None else prefix[0]
    # From 8: prefixes 8-11, 12-13 and 16-19 end at 14. A run is two prefixes of each length at
    # most: later prefixes are not read.
    end = int(network[0])
    for prefix in engine.prefixes({path: list(expectation.values)}, within=network):
        if int(prefix[0]) != end:
            break
        end = int(prefix[-1]) + 1
    return network[end - int(network[0])] if end <= int(network[-1]) else None


def _covered(floors: tuple[Floor, ...], dataset: Path, earlier: Path | None) -> Iterator[Demand]:
    known = known_addresses(dataset) if floors else {}
    is_compared = any(floor.is_of_before for floor in floors)
    before = known_addresses(earlier) if earlier is not None and is_compared else None
    for floor in floors:
        path, addresses = floor.field.path, known[floor.family]
        of, count, what = addresses.of, addresses.with_value[path], _OF[floor.family]
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
