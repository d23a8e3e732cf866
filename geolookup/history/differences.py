"""Where two generations of a store answer differently, by layer and field."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from geolookup.contract.address import canonical
from geolookup.dataset.files import Dataset
from geolookup.dataset.networks import same_kind_around
from geolookup.history.question import Question
from geolookup.kernel import State

#: A value before and after.
Pair = tuple[Any, Any]


@dataclass(frozen=True, slots=True)
class LayerChange:
    """A layer whose values differ; each pair is of before and after, None is unknown."""

    fields: Mapping[str, Pair]  # by path, the values that differ
    sources: Pair  # the names of the sources that decided


@dataclass(frozen=True, slots=True)
class Difference:
    """Adjacent addresses of one family whose answers differ alike, both ends included."""

    family: int
    first: int
    last: int
    layers: Mapping[str, LayerChange]
    before: Side  # all that was known before

    def follows(self, other: Difference) -> bool:
        """Return whether the first address comes next after the last of another difference."""
        return (self.family, self.first) == (other.family, other.last + 1)


class Side(NamedTuple):
    """An answer before or after a change."""

    values: Mapping[str, Any]  # by path
    sources: Mapping[str, str | None]  # by layer
    layers: Mapping[str, str]  # by path

    def source(self, path: str) -> str | None:
        """Return the source that decided a field; None if it is unknown."""
        return self.sources.get(self.layers.get(path, ""))


class OpenGeneration:
    """A generation, for the values and sources of any address."""

    def __init__(self, dataset: Dataset) -> None:
        self._dataset, self.schema = dataset, dataset.schema
        self._state = State(self._dataset)
        self._sources = self._dataset.manifest.metadata().sources
        self.layers = {field.path: field.layer for field in self.schema.stored}

    def values_at(self, family: int, value: int) -> dict[str, Any]:
        """Return the values of all stored fields by path; None if unknown."""
        paths = tuple(self.layers)
        address = canonical(family, value)
        return dict(zip(paths, self._state.values([address], paths, 0)[0], strict=True))

    def side(self, family: int, value: int) -> Side:
        """Return all that is known of an address."""
        decided = self._dataset.provenance(family).layers(value, self._sources)
        sources = {layer: item["source"] if item else None for layer, item in decided.items()}
        return Side(self.values_at(family, value), sources, self.layers)

    def end(self, family: int, value: int) -> int:
        """Return the last address after one up to which values and sources are the same."""
        starts = self._dataset.starts(family)
        return min(
            starts.last(starts.holding(value)), self._dataset.provenance(family).around(value)[1]
        )


def between(
    before: OpenGeneration, after: OpenGeneration, question: Question
) -> Iterator[Difference]:
    """Yield where the answers of two generations differ, in address order."""
    family, first = question.family, question.first
    while first <= question.last:
        last = min(before.end(family, first), after.end(family, first), question.last)
        last = same_kind_around(family, first, first, last)[1]
        values = before.values_at(family, first), after.values_at(family, first)
        if paths := differing(*values):
            sides = [side.side(family, first) for side in (before, after)]
            yield Difference(family, first, last, changed_layers(paths, *sides), sides[0])
        first = last + 1


def differing(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Return the paths whose values differ; 1 is another value than true, but not than 1.0."""
    pairs = ((path, before.get(path), after.get(path)) for path in {**before, **after})
    return [
        path for path, old, new in pairs if old != new or (type(old) is bool) != (type(new) is bool)
    ]


def changed_layers(paths: Iterable[str], before: Side, after: Side) -> dict[str, LayerChange]:
    """Return the layers of some fields; of a field that moved to another layer, the new one."""
    by_layer: dict[str, list[str]] = {}
    for path in paths:
        layer = after.layers.get(path) or before.layers[path]
        by_layer.setdefault(layer, []).append(path)
    return {
        layer: LayerChange(
            {path: (before.values.get(path), after.values.get(path)) for path in members},
            (before.source(members[0]), after.source(members[0])),
        )
        for layer, members in by_layer.items()
    }


def selected(differences: Iterable[Difference], paths: Collection[str] | None) -> list[Difference]:
    """Return differences in some fields (None: in all); neighbours that differ alike are joined."""
    joined: list[Difference] = []
    for difference in differences:
        layers = difference.layers if paths is None else dict(_in_fields(difference.layers, paths))
        if not layers:
            continue
        previous = joined[-1] if joined else None
        if previous and difference.follows(previous) and previous.layers == layers:
            joined[-1] = replace(previous, last=difference.last)
        else:
            joined.append(replace(difference, layers=layers))
    return joined


def _in_fields(
    layers: Mapping[str, LayerChange], paths: Collection[str]
) -> Iterator[tuple[str, LayerChange]]:
    for layer, difference in layers.items():
        fields = {path: pair for path, pair in difference.fields.items() if path in paths}
        if fields:
            yield layer, LayerChange(fields, difference.sources)
