"""``[quality]``: the demands of a recipe on the dataset; ``demands`` checks them.

::

    [quality]
    expect = [["8.8.8.8", "country", "US"], ["192.0.2.0/24", "city"]]
    min_coverage = { country = "99%", "ipv6.asn" = "90%", "before.city" = "98%" }
    truth = "truth.csv"
    fail_if = ["country_agree < 97%"]

``expectations`` reads expected answers. Truth and gates are as for ``geolookup score``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from geolookup.contract.fields import Field
from geolookup.contract.paths import resolve_field
from geolookup.contract.schema import Schema
from geolookup_builder.limits import SHARE, Bound, read_bound
from geolookup_builder.recipe.table import Table, recipe_errors

if TYPE_CHECKING:
    from geolookup_builder.recipe.expectations import Expectation

_KEYS = ("expect", "min_coverage", "truth", "fail_if")
_FAMILIES = ("ipv4", "ipv6")
#: Before a field: the share is of the addresses with a value in the earlier dataset.
_BEFORE = "before."
_DOTS = 3  # of the longest key, such as before.ipv6.own.site_id


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
    table = document.table("quality", *_KEYS)
    return Quality(_expectations(table, schema), _floors(table, schema), *_truth(table, schema))


def _expectations(table: Table, schema: Schema) -> tuple[Expectation, ...]:
    items = table.values.get("expect", [])
    if not isinstance(items, list):
        table.refuse("expect", "is not a list", 'write expect = [["8.8.8.8", "country", "US"]]')
    if not items:
        return ()
    from geolookup_builder.recipe.expectations import read_expectation

    with recipe_errors(table.recipe, "quality.expect: "):
        return tuple(read_expectation(item, schema.stored) for item in items)


def _floors(table: Table, schema: Schema) -> tuple[Floor, ...]:
    floors = table.values.get("min_coverage", {})
    if not isinstance(floors, Mapping):
        table.refuse("min_coverage", "is not a table", 'write min_coverage = { country = "99%" }')
    return tuple(_floor(table, *item, schema) for item in _dotted(floors))


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
    for key, other, example in (
        ("truth", "fail_if", 'fail_if = ["country_agree < 97%"]'),
        ("fail_if", "truth", 'truth = "truth.csv"'),
    ):
        if key in table and other not in table:
            table.refuse(key, f"needs quality.{other}", f"write {example}")
    if "truth" not in table:
        return "", ()
    if "://" in table.text("truth"):
        table.refuse("truth", "is an address", "download the file, and write its path")
    from geolookup.comparison.gates import ALL
    from geolookup.comparison.score import score_metrics

    metrics = score_metrics(field.path for field in schema.own)
    parts = tuple(part for part in metrics.parts if part != ALL)
    return table.text("truth"), table.gates("fail_if", replace(metrics, parts=parts))
