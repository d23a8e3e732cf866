"""What the build tests share: recipe texts, expected failures, and the members that are known."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import geolookup
from geolookup.errors import BuildError, OutputError
from tests.conftest import build_at
from tests.internals.builder import FillCount


def recipe(*sources: str) -> str:
    """A recipe of CSV sources, each given by its keys below ``format``."""
    tables = "".join(f'[[source]]\nformat = "csv"\n{source}\n' for source in sources)
    return f'[dataset]\nname = "test"\n{tables}'


def fails(
    folder: Path, files: Mapping[str, str | bytes], text: str | None = None, **options: object
) -> BuildError:
    """The error of a build with bad input; any other exception fails the test."""
    with pytest.raises(BuildError) as caught:
        build_at(folder, dict(files), text, **options)
    return caught.value


def unwritable(folder: Path, files: Mapping[str, str | bytes], **options: object) -> OutputError:
    """The error of a build whose output cannot be written."""
    with pytest.raises(OutputError) as caught:
        build_at(folder, dict(files), None, **options)
    return caught.value


def known(dataset: Path, *addresses: str) -> list[dict[str, Any]]:
    """What is known of each address: location and network members that are not null."""
    with geolookup.open(dataset) as engine:
        data: list[Any] = [engine.lookup(address, at=0)["data"] for address in addresses]
    return [
        {
            name: value
            for name, value in (item["location"] | item["network"]).items()
            if value is not None
        }
        for item in data
    ]


def enriched(
    folder: Path, enrich: str, header: str, *rows: str
) -> tuple[list[dict[str, object]], dict[str, FillCount]]:
    """Build rows (8.8.n.0/24 in order) with an ``[enrich]`` table; the answers and the counts."""
    lines = [f"8.8.{number}.0/24,{row}\n" for number, row in enumerate(rows)]
    files: dict[str, str | bytes] = {"a.csv": f"network,{header}\n" + "".join(lines)}
    text = recipe("path = 'a.csv'") + f"[enrich]\n{enrich}"
    dataset, report = build_at(folder, files, text)
    return known(dataset, *(f"8.8.{n}.1" for n in range(len(rows)))), report.enriched


def isps(dataset: Path, *addresses: str) -> list[str | None]:
    return [item.get("isp") for item in known(dataset, *addresses)]
