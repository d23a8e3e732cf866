"""Where two generations of a store answer differently, by layer and field."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

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


class Generation:
    """An open generation: the values and sources of any address."""

    def __init__(self, dataset: Dataset) -> None:
        self._dataset, self.schema = dataset, dataset.schema
        self._state = State(self._dataset)
        self._sources = self._dataset.manifest.metadata().sources
        self.layer_of = {field.path: field.layer for field in self.schema.stored}

    def values(self, question: Question) -> dict[str, Any]:
        """Return the values of an address."""
        return self.values_at(question.family, question.first)

    def values_at(self, family: int, value: int) -> dict[str, Any]:
        """Return the values of all stored fields by path; None if unknown."""
        paths = tuple(self.layer_of)
        address = canonical(family, value)
        return dict(zip(paths, self._state.values([address], paths, 0)[0], strict=True))

    def sources(self, family: int, value: int) -> dict[str, str | None]:
        """Return the name of the deciding source of each layer; None if it is unknown."""
        decided = self._dataset.provenance(family).layers(value, self._sources)
        return {layer: item["source"] if item else None for layer, item in decided.items()}

    def end(self, family: int, value: int) -> int:
        """Return the last address after one up to which values and sources are the same."""
        starts = self._dataset.starts(family)
        return min(
            starts.last(starts.holding(value)), self._dataset.provenance(family).around(value)[1]
        )


def between(before: Generation, after: Generation, question: Question) -> Iterator[Difference]:
    """Yield where the answers of two generations differ, in address order."""
    family, first = question.family, question.first
    while first <= question.last:
        last = min(before.end(family, first), after.end(family, first), question.last)
        last = same_kind_around(family, first, first, last)[1]
        if layers := dict(_layers(before, after, family, first)):
            yield Difference(family, first, last, layers)
        first = last + 1


def _layers(
    before: Generation, after: Generation, family: int, value: int
) -> Iterator[tuple[str, LayerChange]]:
    layer_of = {**before.layer_of, **after.layer_of}
    old, new = before.values_at(family, value), after.values_at(family, value)
    by_layer: dict[str, dict[str, Pair]] = {}
    for path, layer in layer_of.items():
        pair = old.get(path), new.get(path)
        if differs(*pair):
            by_layer.setdefault(layer, {})[path] = pair
    if by_layer:
        old_sources, new_sources = before.sources(family, value), after.sources(family, value)
    for layer, pairs in by_layer.items():
        yield layer, LayerChange(pairs, (old_sources.get(layer), new_sources.get(layer)))


def differs(before: Any, after: Any) -> bool:
    """Return whether two values differ; 1 is another value than true, but not than 1.0."""
    return before != after or (type(before) is bool) != (type(after) is bool)


def selected(differences: Iterable[Difference], paths: Collection[str] | None) -> list[Difference]:
    """Return differences in some fields (None: in all); neighbours that differ alike are joined."""
    joined: list[Difference] = []
    for difference in differences:
        layers = difference.layers if paths is None else dict(_of(difference.layers, paths))
        if not layers:
            continue
        here, last = (difference.family, difference.first), joined[-1] if joined else None
        if last and (last.family, last.last + 1) == here and last.layers == layers:
            joined[-1] = Difference(last.family, last.first, difference.last, layers)
        else:
            joined.append(Difference(*here, difference.last, layers))
    return joined


def _of(
    layers: Mapping[str, LayerChange], paths: Collection[str]
) -> Iterator[tuple[str, LayerChange]]:
    for layer, difference in layers.items():
        fields = {path: pair for path, pair in difference.fields.items() if path in paths}
        if fields:
            yield layer, LayerChange(fields, difference.sources)
