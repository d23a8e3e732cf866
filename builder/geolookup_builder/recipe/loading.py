"""From the name that a user gives to a recipe: a recipe file, a packaged recipe, or files of data.

Packaged recipes are for well-known data sets. One is named by the stem of its file in
``recipes/``; the files that come along lie in folders beside it.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from geolookup.errors import BuildError, OutputError, name_text, near_match
from geolookup.filesystem import atomic
from geolookup_builder.recipe.document import PACKAGED, Recipe, of_document, read_recipe
from geolookup_builder.sources import FORMATS, auto

SUFFIX = ".toml"


def load(text: str | os.PathLike[str]) -> Recipe:
    """Return the recipe that a user names.

    A ``.toml`` file is a recipe. Any other file or folder that exists is data: one source of
    the format ``auto``. Any other text is the name of a packaged recipe. Raises BuildError,
    also for an empty text: as a path it would name the current folder.
    """
    if not os.fspath(text):
        remedy = "name a recipe file, a packaged recipe, or a file or folder of data"
        raise BuildError("''", "names no recipe", remedy=remedy)
    path = Path(text)
    if path.suffix == SUFFIX:
        return read_recipe(path, auto.options(FORMATS))
    return _of_data(path) if path.exists() else load_packaged(str(path))


def _of_data(path: Path) -> Recipe:
    """Return the recipe of a file or folder of data; the dataset has its name, without suffixes."""
    data = path if path.name else path.absolute()
    name = name_text(data.name.partition(".")[0] or data.name)
    document = {"dataset": {"name": name}, "source": [{"path": data.name}]}
    return of_document(data, document, auto.options(FORMATS))


def load_packaged(name: str) -> Recipe:
    """Return a packaged recipe, whatever files of that name exist. Raises BuildError."""
    return read_recipe(path_of(name), auto.options(FORMATS))


def names() -> list[str]:
    """Return the names of the packaged recipes, in alphabetical order."""
    return sorted(path.stem for path in PACKAGED.glob(f"*{SUFFIX}"))


def path_of(name: str) -> Path:
    """Return the file of a packaged recipe; BuildError with a near match for an unknown name."""
    if name not in names():
        hint = near_match(name, names(), fallback="'geolookup recipes' lists the packaged recipes")
        raise BuildError(name, "neither a file nor the name of a packaged recipe", remedy=hint)
    return PACKAGED / f"{name}{SUFFIX}"


def text(name: str) -> str:
    """Return the text of a packaged recipe."""
    return path_of(name).read_text(encoding="utf-8")


def summary(name: str) -> str:
    """Return the description of a packaged recipe: its first line."""
    return text(name).partition("\n")[0].removeprefix("#").strip()


def copy(name: str, folder: Path) -> Path:
    """Copy a packaged recipe and the files that come with it into a folder; return the copy.

    The folder is created if it is missing. Raises OutputError for a file that exists already
    or cannot be written.
    """
    recipe = load_packaged(name)
    local = (spec for spec in recipe.sources if spec.remote is None and spec.base == PACKAGED)
    data = {Path(spec.path).parts[0] for spec in local}
    for target in (folder / recipe.path.name, *(folder / part for part in data)):
        if target.exists():
            raise OutputError(target, "exists already", "name another folder")
    with atomic.output_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for part in data:
            shutil.copytree(PACKAGED / part, folder / part)
        return Path(shutil.copyfile(recipe.path, folder / recipe.path.name))
