"""From the sources of a call in Python to a recipe: paths, tables in memory, or dicts of either.

The dicts have the keys of a ``[[source]]``. They make the document that a recipe file would be;
``recipe`` reads it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any, TypeAlias

from geolookup_builder.recipe import loading
from geolookup_builder.recipe.document import Recipe, of_document
from geolookup_builder.sources import FORMATS, auto
from geolookup_builder.sources.formats.generic import TABLE
from geolookup_builder.sources.reading import arrow_tables

#: A path, a table of any library with Arrow's PyCapsule interface, or a dict.
Source: TypeAlias = str | PathLike[str] | Mapping[str, Any] | Any
#: The name of a dataset that states none.
_NAME = "dataset"


def recipe_of_call(
    recipe_name: object,
    sources: Sequence[Source] | None,
    columns: Mapping[str, Any] | None = None,
    **dataset: str | Sequence[str] | None,
) -> Recipe:
    """Return the recipe that a call names (``loading``), or the recipe of its sources.

    ``dataset`` are keys of ``[dataset]``; None: not stated. Raises TypeError for a source that is
    neither a path nor a table, and without a recipe and sources; ValueError with both, or with
    empty sources; BuildError as for a recipe file.
    """
    stated = {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in dataset.items()
        if value is not None
    }
    tables = {} if columns is None else {"columns": columns}
    if sources is not None:
        if recipe_name is not None:
            raise ValueError("recipe and sources are two recipes; pass one of them")
        return _of_sources(sources, {"dataset": {"name": _NAME, **stated}, **tables})
    if recipe_name is None:
        raise TypeError("no recipe and no sources; pass one of them")
    for key in (*tables, *stated):
        raise ValueError(f"{key} goes with sources; write it into the recipe")
    if not isinstance(recipe_name, str | PathLike):
        kind = type(recipe_name).__name__
        raise TypeError(f"recipe is of type {kind}; pass a path, or tables as sources=[…]")
    return loading.load(recipe_name)


def _of_sources(sources: Sequence[Source], tables: Mapping[str, Any]) -> Recipe:
    if not isinstance(sources, list | tuple):
        raise TypeError(f"sources is not a list, but of type {type(sources).__name__}")
    if not sources:
        raise ValueError("sources is empty; pass a path or a table")
    labels = [Path(f"sources[{number}]") for number in range(len(sources))]
    document = {**tables, "source": list(map(_source, labels, sources))}
    formats = {**auto.options(FORMATS), TABLE.name: TABLE.options}
    return of_document(Path("build"), document, formats, labels)


def _source(label: Path, source: Source) -> dict[str, Any]:
    """Return a ``[[source]]``."""
    if isinstance(source, str | PathLike):
        return {"path": fspath(source)}
    if not isinstance(source, Mapping):
        return _of_table(label, source)
    if "table" not in source:
        return {k: fspath(v) if isinstance(v, PathLike) else v for k, v in source.items()}
    for key in ("path", "format"):
        if key in source:
            raise ValueError(f"{label} has a table and a {key}; pass one of them")
    return {**source, **_of_table(label, source["table"])}


def _of_table(label: Path, data: object) -> dict[str, Any]:
    """Return the ``[[source]]`` of a table."""
    table = arrow_tables.table(str(label), data)
    if table is None:
        kinds = "a path, or a table of Arrow, pandas, Polars or with Arrow's PyCapsule interface"
        raise TypeError(f"{label} is of type {type(data).__name__}; pass {kinds}")
    return {"format": TABLE.name, "path": str(label), "table": table}
