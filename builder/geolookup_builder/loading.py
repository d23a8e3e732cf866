"""From what a user names to a recipe: a recipe file, a packaged recipe, or files of data."""

from __future__ import annotations

from pathlib import Path

from geolookup_builder import packaged, recipe
from geolookup_builder.recipe import Recipe
from geolookup_builder.sources import FORMATS, auto


def load(named: Path) -> Recipe:
    """Return the recipe that a user names.

    A ``.toml`` file is a recipe. Any other file or folder that exists is data: one source of
    the format ``auto``. Any other text is the name of a packaged recipe. Raises BuildError.
    """
    if named.suffix == packaged.SUFFIX:
        return recipe.load(named, auto.options(FORMATS))
    if named.exists():
        return recipe.of_data(named, auto.NAME)
    return recipe.load(packaged.path_of(str(named)), auto.options(FORMATS))
