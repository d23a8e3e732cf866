"""The recipe: read, or refused in one line with a remedy."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager
from functools import cache
from unittest import mock

from geolookup_builder import recipe
from geolookup_builder.sources import FORMATS, auto

from geolookup.errors import BuildError
from tests.builder.test_recipe import GOOD, WRONG
from tests.conftest import ROOT
from tests.fuzz.target import Target, check_one_line, own_folder

_folder = cache(own_folder)
_PAGES = ("docs/how-to/own-dataset.md", "docs/recipe.md")


def seeds() -> Iterator[bytes]:
    for path in (
        ROOT / "sample_data/recipe.toml",
        *(ROOT / "builder/geolookup_builder/recipes").glob("*.toml"),
    ):
        yield path.read_bytes()
    for page in _PAGES:
        yield from re.findall(rb"```toml[^\n]*\n(.*?)```", (ROOT / page).read_bytes(), re.DOTALL)
    for text in (GOOD, *WRONG):
        yield text.encode()


def run(data: bytes) -> None:
    path = _folder() / "recipe.toml"
    path.write_bytes(data)
    try:
        found = recipe.load(path, auto.options(FORMATS))
    except BuildError as error:
        check_error(error, str(path))
    else:
        assert found.sources
        assert all(isinstance(each.name, str) for each in found.sources)


def check_error(error: BuildError, place: str) -> None:
    """Fail unless an error is one line that names its place and what to do."""
    check_one_line(error, place)
    assert error.problem
    assert error.remedy, str(error)[:200]


def planted() -> AbstractContextManager[object]:
    """Give no remedy for an unknown word."""
    return mock.patch.object(recipe, "near_match", return_value="")


TARGET = Target(run, seeds, planted)
