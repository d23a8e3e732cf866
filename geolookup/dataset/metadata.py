"""What a dataset says of itself, from its manifest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import Any, TypeVar

from geolookup.dataset import age
from geolookup.dataset import layout as fmt
from geolookup.errors import DatasetError


@dataclass(frozen=True, slots=True)
class Source:
    """One source of a dataset; what the recipe did not say is None."""

    name: str
    format: str
    date: str | None = None  # of the data, ISO 8601
    licence: str | None = None
    attribution: str | None = None
    url: str | None = None
    #: addresses that it decides, by layer and family; a layer that it decides nowhere is left out
    coverage: Mapping[str, Mapping[str, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Metadata:
    """A dataset's name, origin and size."""

    name: str  # as the recipe has it
    generation: str  # SHA-256 of the content, the same wherever it was built
    sources: tuple[Source, ...]  # in order of precedence
    credits: tuple[Mapping[str, str], ...]  # whom the reference tables are owed to
    fields: tuple[str, ...]  # contract paths that are known for some address
    counts: Mapping[str, int]  # intervals, locations, networks, countries, zones
    coverage: Mapping[str, Mapping[str, int]]  # known addresses by layer and family
    bytes: int  # of all files
    explain: str  # "sources", or "full" where source rows are kept: what ``explain`` tells

    @property
    def age(self) -> age.Age:
        """How old the data are today, by the sources that decide anything."""
        return age.of((each.name, each.date) for each in self.sources if each.coverage)


def of_manifest(manifest: Mapping[str, Any], path: str | PathLike[str]) -> Metadata:
    """Build the metadata of a manifest; DatasetError where it is damaged."""
    try:
        return _metadata(manifest)
    except (TypeError, KeyError, AttributeError, ValueError):
        raise DatasetError(path, "the manifest is damaged", "build the dataset again") from None


def _metadata(manifest: Mapping[str, Any]) -> Metadata:
    # Every mapping is built anew, for the manifest must not change with what a caller does.
    return Metadata(
        name=_is(str, manifest["name"]),
        generation=_is(str, manifest["generation"]),
        sources=tuple(_source(each) for each in _is(list, manifest["sources"])),
        credits=tuple(_texts(each) for each in _is(list, manifest["credits"])),
        fields=tuple(_is(str, each) for each in _is(list, manifest["fields"])),
        counts=_numbers(manifest["counts"]),
        coverage=_coverage(manifest["coverage"]),
        bytes=sum(_count(described["bytes"]) for described in manifest["files"].values()),
        explain="full" if fmt.explains_rows(manifest) else "sources",
    )


def _source(described: Any) -> Source:
    texts = {name: value for name, value in described.items() if name != "coverage"}
    return Source(**_texts(texts), coverage=_coverage(described["coverage"]))


def _coverage(coverage: Any) -> dict[str, dict[str, int]]:
    return {layer: _numbers(known) for layer, known in coverage.items()}


_T = TypeVar("_T")


def _is(kind: type[_T], value: Any) -> _T:
    if not isinstance(value, kind):
        raise TypeError
    return value


def _texts(texts: Any) -> dict[str, str]:
    return {name: _is(str, text) for name, text in texts.items()}


def _numbers(numbers: Any) -> dict[str, int]:
    return {name: _count(number) for name, number in numbers.items()}


def _count(number: Any) -> int:
    if _is(int, number) < 0:
        raise ValueError
    return int(number)
