"""From what a user names to a recipe: a recipe file, a packaged recipe, data, sources, a slice.

Packaged recipes are for well-known data sets. One is named by the stem of its file in
``recipes/``; the files that come along lie in folders beside it. Data, sources of a call and the
part of a dataset make the document that a recipe file would be.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any, TypeAlias

from geolookup.archives.head import is_archive, open_archive
from geolookup.contract.schema import column_members
from geolookup.dataset.manifest import read_manifest
from geolookup.errors import BuildError, OutputError, line_text, near_match
from geolookup.filesystem import atomic
from geolookup.store import resolve
from geolookup_builder.recipe.document import DATASET, PACKAGED, Recipe, of_document, read_recipe
from geolookup_builder.sources import auto
from geolookup_builder.sources.formats.generic import TABLE
from geolookup_builder.sources.reading import arrow_tables

SUFFIX = ".toml"
#: A path, a table of any library with Arrow's PyCapsule interface, or a dict of a ``[[source]]``.
Source: TypeAlias = str | PathLike[str] | Mapping[str, Any] | Any
#: The name of a dataset of a call that states none.
_NAME = "dataset"


def load(text: str | PathLike[str]) -> Recipe:
    """Return the recipe that a user names.

    A ``.toml`` file is a recipe. Any other file or folder that exists is data: one source of
    the format ``auto``. Any other text is the name of a packaged recipe. Raises BuildError,
    also for an empty text: as a path it would name the current folder.
    """
    if not fspath(text):
        remedy = "name a recipe file, a packaged recipe, or a file or folder of data"
        raise BuildError("''", "names no recipe", remedy=remedy)
    path = Path(text)
    if path.suffix == SUFFIX:
        return read_recipe(path, auto.options())
    if not path.exists():
        return load_packaged(str(path))
    # The dataset has the name of the data, without suffixes.
    data = path if path.name else path.absolute()
    name = line_text(data.name.partition(".")[0] or data.name)
    document = {"dataset": {"name": name}, "source": [{"path": data.name}]}
    return of_document(data, document, auto.options())


def load_packaged(name: str) -> Recipe:
    """Return a packaged recipe, whatever files of that name exist. Raises BuildError."""
    return read_recipe(path_of(name), auto.options())


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


def recipe_of_call(
    recipe_name: object,
    sources: Sequence[Source] | None,
    columns: Mapping[str, Any] | None = None,
    **dataset: str | Sequence[str] | None,
) -> Recipe:
    """Return the recipe that a call names, or the recipe of its sources.

    ``dataset`` are keys of ``[dataset]``; those that are None are left out. Raises TypeError for a
    source that is neither a path nor a table, and without a recipe and sources; ValueError with
    both, or with empty sources; BuildError as for a recipe file.
    """
    keys = {key: value for key, value in dataset.items() if value is not None}
    tables = {} if columns is None else {"columns": columns}
    if sources is None:
        if recipe_name is None:
            raise TypeError("no recipe and no sources; pass one of them")
        if beside := [*tables, *keys]:
            raise ValueError(f"{beside[0]} goes with sources; write it into the recipe")
        if not isinstance(recipe_name, str | PathLike):
            kind = type(recipe_name).__name__
            raise TypeError(f"recipe is of type {kind}; pass a path, or tables as sources=[…]")
        return load(recipe_name)
    if recipe_name is not None:
        raise ValueError("recipe and sources are two recipes; pass one of them")
    if not isinstance(sources, list | tuple):
        raise TypeError(f"sources is not a list, but of type {type(sources).__name__}")
    if not sources:
        raise ValueError("sources is empty; pass a path or a table")
    labels = [Path(f"sources[{number}]") for number in range(len(sources))]
    stated = {key: list(of) if isinstance(of, tuple) else of for key, of in keys.items()}
    items = list(map(_source, labels, sources))
    document: dict[str, Any] = {"dataset": {"name": _NAME, **stated}, "source": items, **tables}
    formats = {**auto.options(), TABLE.name: TABLE.options}
    return of_document(Path("build"), document, formats, labels)


def _source(label: Path, source: Source) -> dict[str, Any]:
    """Return a ``[[source]]``."""
    if isinstance(source, str | PathLike):
        return {"path": fspath(source)}
    keys = source if isinstance(source, Mapping) else {"table": source}
    if "table" not in keys:
        return {k: fspath(v) if isinstance(v, PathLike) else v for k, v in keys.items()}
    for key in ("path", "format"):
        if key in keys:
            raise ValueError(f"{label} has a table and a {key}; pass one of them")
    table = arrow_tables.table(str(label), keys["table"])
    if table is None:
        kinds = "a path, or a table of Arrow, pandas, Polars or with Arrow's PyCapsule interface"
        raise TypeError(f"{label} is of type {type(keys['table']).__name__}; pass {kinds}")
    return {**keys, "format": TABLE.name, "path": str(label), "table": table}


def slice_recipe(
    dataset: str,
    name: str,
    *,
    only: Sequence[str] = (),
    unwanted: Sequence[str] = (),
    within: Sequence[str] = (),
    families: Sequence[int] = (),
    fields: Sequence[str] = (),
) -> Recipe:
    """Return the recipe of a part of a dataset, store or archive; ``name`` names the new dataset.

    ``unwanted`` are conditions that no answer may meet. Conditions may name own columns of the
    dataset. Raises BuildError for a malformed condition, network or field, DatasetError if there
    is no dataset.
    """
    if is_archive(Path(dataset)):
        with open_archive(Path(dataset)) as (head, _):
            own = head.manifest.schema.own
    else:
        own = read_manifest(resolve.folder(dataset)).schema.own
    columns = [column_members(field) for field in own]
    conditions: list[Any] = [*only, *([{"not": list(unwanted)}] if unwanted else ())]
    keys = {"only": conditions, "within": list(within), "families": list(families)}
    source = {"format": DATASET, "path": dataset, **{key: of for key, of in keys.items() if of}}
    document = {
        "dataset": {"name": name, **({"fields": list(fields)} if fields else {})},
        "columns": {column.pop("name"): column for column in columns},
        "source": [source],
    }
    return of_document(Path("slice"), document, auto.options())
