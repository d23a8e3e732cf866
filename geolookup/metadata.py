"""What a dataset says of itself, from its manifest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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


def of_manifest(manifest: Mapping[str, Any], path: Path) -> Metadata:
    """Build the metadata of a manifest; DatasetError where it is damaged."""
    try:
        return _metadata(manifest)
    except (TypeError, KeyError, AttributeError, ValueError):
        raise DatasetError(path, "the manifest is damaged", "build the dataset again") from None


def _metadata(manifest: Mapping[str, Any]) -> Metadata:
    return Metadata(
        name=manifest["name"],
        generation=manifest["generation"],
        sources=tuple(Source(**source) for source in manifest["sources"]),
        credits=tuple(manifest["credits"]),
        fields=tuple(manifest["fields"]),
        counts=manifest["counts"],
        coverage=manifest["coverage"],
        bytes=sum(described["bytes"] for described in manifest["files"].values()),
    )
