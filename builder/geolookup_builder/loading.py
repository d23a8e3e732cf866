"""From what a user names to a recipe: a recipe file, a packaged recipe, or files of data."""

from __future__ import annotations

import os
from pathlib import Path

from geolookup.errors import BuildError
from geolookup_builder import packaged, recipe
from geolookup_builder.recipe import Recipe
from geolookup_builder.sources import FORMATS, auto


def load(text: str | os.PathLike[str]) -> Recipe:
    """Return the recipe that a user names.

    A ``.toml`` file is a recipe. Any other file or folder that exists is data: one source of
    the format ``auto``. Any other text is the name of a packaged recipe. Raises BuildError,
    also for an empty text: as a path it would name the current folder.
    """
    if not os.fspath(text):
        remedy = "name a recipe file, a packaged recipe, or a file or folder of data"
        raise BuildError("''", "names no recipe", remedy=remedy)
    named = Path(text)
    if named.suffix == packaged.SUFFIX:
        return recipe.load(named, auto.options(FORMATS))
    if named.exists():
        return recipe.of_data(named, auto.NAME)
    return load_packaged(str(named))


def load_packaged(name: str) -> Recipe:
    """Return a packaged recipe, whatever files of that name exist. Raises BuildError."""
    return recipe.load(packaged.path_of(name), auto.options(FORMATS))
