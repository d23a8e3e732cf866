"""What the build tests share: recipe texts, expected failures, and the members that are known."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import geolookup
from geolookup.errors import BuildError, OutputError
from tests.conftest import build_at


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


def unwritable(
    folder: Path, files: Mapping[str, str | bytes], text: str | None = None, **options: object
) -> OutputError:
    """The error of a build whose output cannot be written."""
    with pytest.raises(OutputError) as caught:
        build_at(folder, dict(files), text, **options)
    return caught.value


def known(dataset: Path, *addresses: str) -> list[dict[str, Any]]:
    """What is known of each address: location and network members that are not null."""
    with geolookup.open(dataset) as engine:
        data: list[Any] = [engine.data(address, at=0) for address in addresses]
    return [
        {
            name: value
            for name, value in (each["location"] | each["network"]).items()
            if value is not None
        }
        for each in data
    ]


def isps(dataset: Path, *addresses: str) -> list[str | None]:
    """The isp of each address."""
    return [each.get("isp") for each in known(dataset, *addresses)]
