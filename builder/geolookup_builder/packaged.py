"""The packaged recipes, for well-known data sets, by name.

A recipe is named by the stem of its file in ``recipes/``. Files that come with a recipe lie in
a folder of the recipe's name beside it.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from geolookup.errors import BuildError, OutputError, near_match
from geolookup.filesystem import atomic

FOLDER = Path(__file__).resolve().parent / "recipes"
SUFFIX = ".toml"


def names() -> list[str]:
    """Return the names of the packaged recipes, in alphabetical order."""
    return sorted(path.stem for path in FOLDER.glob(f"*{SUFFIX}"))


def path_of(name: str) -> Path:
    """Return the file of a packaged recipe; BuildError with a near match where there is none."""
    if name not in names():
        hint = near_match(name, names(), fallback="'geolookup recipes' lists the packaged recipes")
        raise BuildError(name, "neither a file nor the name of a packaged recipe", remedy=hint)
    return FOLDER / f"{name}{SUFFIX}"


def text(name: str) -> str:
    """Return the text of a packaged recipe."""
    return path_of(name).read_text(encoding="utf-8")


def summary(name: str) -> str:
    """Return what a packaged recipe describes: its first line."""
    return text(name).partition("\n")[0].removeprefix("#").strip()


def copy(name: str, folder: Path) -> Path:
    """Copy a packaged recipe and the files that come with it into a folder; return the copy.

    The folder is created if it is missing. Raises OutputError for a file that exists already
    or cannot be written.
    """
    recipe = path_of(name)
    data = FOLDER / name
    for target in (folder / recipe.name, *([folder / name] if data.is_dir() else [])):
        if target.exists():
            raise OutputError(target, "exists already", "name another folder")
    with atomic.output_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        if data.is_dir():
            shutil.copytree(data, folder / name)
        return Path(shutil.copyfile(recipe, folder / recipe.name))


def base(recipe: Path, path: str) -> Path:
    """Return the folder that a local path in a recipe is relative to.

    That is the folder of the recipe. A packaged recipe has no folder that users put files into:
    its paths are relative to the current folder, except those of files that come with it.
    """
    if recipe.parent != FOLDER or Path(path).parts[:1] == (recipe.stem,):
        return recipe.parent
    try:
        return Path.cwd()
    except FileNotFoundError as error:  # removed meanwhile
        problem = "its files are looked for in the current folder, which does not exist"
        raise BuildError(recipe.stem, problem, remedy="change to another folder") from error
