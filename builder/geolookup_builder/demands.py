"""``[quality]``: the demands of a recipe on the dataset, checked before it is published.

::

    [quality]
    expect = [["8.8.8.8", "country", "US"], ["192.0.2.0/24", "city"]]
    min_coverage = { country = "99%", "ipv6.asn" = "90%", "before.city" = "98%" }
    truth = "truth.csv"
    fail_if = ["country_agree < 97%"]

Truth and gates are as for ``geolookup score``. A demand that is not met is a gate that fails. Truth
that cannot be read is unusable input, and so is an expected value that no answer can have.
"""

from __future__ import annotations

import glob
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv6Address, ip_network
from pathlib import Path
from typing import TYPE_CHECKING, Any

import geolookup
from geolookup.contract.address import EMBEDDED
from geolookup.contract.fields import Field
from geolookup.contract.paths import resolve_field
from geolookup.contract.schema import Schema
from geolookup.dataset.coverage import known_addresses
from geolookup.dataset.networks import Network
from geolookup.errors import BuildError, DiffError, TableFileError, count_text, number_text
from geolookup.prefixes.condition_values import typed_value
from geolookup_builder.build_report import Demand
from geolookup_builder.limits import SHARE, Bound, read_bound
from geolookup_builder.recipe.table import Table, recipe_errors

if TYPE_CHECKING:
    from geolookup_builder.recipe.document import SourceSpec

_FAMILIES = ("ipv4", "ipv6")
#: Before a field: the share is of the addresses with a value in the earlier dataset.
_BEFORE = "before."
_DOTS = 3  # of the longest key, such as before.ipv6.own.site_id
_FORM = 'write [ADDRESS, FIELD, VALUE], such as ["8.8.8.8", "country", "US"]'
_NETWORK = "write one like 8.8.8.8 or 8.8.8.0/24, without host bits"
_CARRIES = "has IPv4 addresses in it (mapped, 6to4 or NAT64), whose values IPv4 networks have"
#: The addresses that shares of a family are of.
_OF = {"ipv4": "public IPv4 addresses", "ipv6": "IPv6 addresses with any value"}


@dataclass(frozen=True, slots=True)
class Expectation:
    """The value of a field for all addresses of a network: one of ``values``; unknown if empty."""

    text: str
    network: Network
    field: Field
    values: tuple[Any, ...]

    def is_met_by(self, value: Any) -> bool:
        """Return whether a value is expected; of a list, one item must be."""
        if value is None:
            return not self.values
        return any(item in self.values for item in (value if isinstance(value, list) else [value]))


@dataclass(frozen=True, slots=True)
class Floor:
    """The least number or share of the addresses of a family that must have a value of a field."""

    text: str
    family: str  # "ipv4" or "ipv6"
    field: Field
    least: Bound
    is_of_before: bool  # a share of the addresses with a value in the earlier dataset


@dataclass(frozen=True, slots=True)
class Quality:
    """``[quality]``; ``truth`` is a file, folder or glob, relative to the recipe."""

    expect: tuple[Expectation, ...] = ()
    min_coverage: tuple[Floor, ...] = ()
    truth: str = ""
    fail_if: tuple[str, ...] = ()


def read_quality(document: Table, schema: Schema) -> Quality:
    """Return the demands of a recipe; BuildError for a malformed one."""
    table = document.table("quality", "expect", "min_coverage", "truth", "fail_if")
    expect, floors = table.values.get("expect", []), table.values.get("min_coverage", {})
    if not isinstance(expect, list):
        table.refuse("expect", "is not a list", 'write expect = [["8.8.8.8", "country", "US"]]')
    if not isinstance(floors, Mapping):
        table.refuse("min_coverage", "is not a table", 'write min_coverage = { country = "99%" }')
    with recipe_errors(table.recipe, "quality.expect: "):
        expectations = tuple(_expectation(item, schema) for item in expect)
    return Quality(
        expectations,
        tuple(_floor(table, *item, schema) for item in _dotted(floors)),
        *_truth(table, schema),
    )


def _expectation(item: object, schema: Schema) -> Expectation:
    """Read ``[ADDRESS, FIELD, VALUE]``, or ``[ADDRESS, FIELD]`` for an unknown value.

    ADDRESS may be a network. If VALUE is a list, one of its values is expected. Raises DiffError
    or ValueError.
    """
    text = json.dumps(item, ensure_ascii=False, default=str)
    if not isinstance(item, list) or len(item) not in (2, 3):
        raise DiffError(f"malformed expectation {text}", _FORM)
    address, name, *value = item
    values = value[0] if value and isinstance(value[0], list) else value
    if value and (not values or "" in values):
        problem = f"{text} has an empty value"
        raise DiffError(problem, "write [ADDRESS, FIELD] for an unknown value")
    field = resolve_field(name, schema.stored, text)
    try:
        typed = tuple(typed_value(field, value) for value in values)
    except ValueError as error:
        raise DiffError(f"{text}: {error}", _FORM) from error
    return Expectation(text, _network(address, text), field, typed)


def _network(address: object, text: str) -> Network:
    try:
        # No lookup accepts a zone of RFC 4007, such as fe80::1%eth0.
        network = ip_network(address if isinstance(address, str) and "%" not in address else "")
    except ValueError:
        raise DiffError(f"{text} begins with no address or network", _NETWORK) from None
    first, last = int(network[0]), int(network[-1])
    if network.version == 6 and any(first <= end and begin <= last for begin, end in EMBEDDED):
        raise DiffError(f"{text} {_CARRIES}", "write an IPv4 network, or a smaller IPv6 one")
    return network


def _dotted(table: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield keys and values: TOML reads ``ipv6.country = …`` as a table in a table."""
    for key, value in table.items():
        if isinstance(value, Mapping) and before.count(".") < _DOTS:
            yield from _dotted(value, f"{before}{key}.")
        else:
            yield before + key, value


def _floor(table: Table, key: str, value: object, schema: Schema) -> Floor:
    is_of_before, name = key.startswith(_BEFORE), key.removeprefix(_BEFORE)
    family, _, field_name = name.partition(".")
    if family not in _FAMILIES:
        family, field_name = "ipv4", name
    with recipe_errors(table.recipe):
        field = resolve_field(field_name, schema.stored, "quality.min_coverage")
    least = read_bound(table, f"min_coverage.{key}", value, SHARE)
    return Floor(f"min_coverage {key} = {least}", family, field, least, is_of_before)


def _truth(table: Table, schema: Schema) -> tuple[str, tuple[str, ...]]:
    """Return the truth and its gates: neither is of use without the other."""
    for key, other in (("truth", "fail_if"), ("fail_if", "truth")):
        if key in table and other not in table:
            table.refuse(key, f"needs quality.{other}", f"write both, or drop {key}")
    if "truth" not in table:
        return "", ()
    if "://" in table.text("truth"):
        table.refuse("truth", "is an address", "download the file, and write its path")
    from geolookup.comparison.gates import ALL
    from geolookup.comparison.score import score_metrics

    metrics = score_metrics(field.path for field in schema.own)
    parts = tuple(part for part in metrics.parts if part != ALL)
    return table.text("truth"), table.gates("fail_if", replace(metrics, parts=parts))


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
                value = engine.get(address, [expectation.field.path])[0]
                text = "unknown" if value is None else json.dumps(value, ensure_ascii=False)
                observed = f"{text} at {address}"
            yield Demand(f"expect {expectation.text}", observed, address is None)


def _first_other(
    engine: geolookup.Engine, expectation: Expectation
) -> IPv4Address | IPv6Address | None:
    """Return the first address of a network with another value; None if it has none.

    If the first address has the expected value, the prefixes with that value begin there, and end
    before the first address with another one.
    """
    network, path = expectation.network, expectation.field.path
    if not expectation.is_met_by(engine.get(network[0], [path])[0]):
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
        observed = (
            f"{number_text(count)} of {number_text(of)} {what} ({count / of if of else 0:.4%})"
        )
        # Without any IPv6 value, every share fails. Without one before, nothing is lost.
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
