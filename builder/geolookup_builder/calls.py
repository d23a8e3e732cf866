"""The calls of Python: ``build`` and ``check``, of a recipe or of a list of sources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, overload

from geolookup.progress import Progress
from geolookup.signing.keys import SigningKeys, read_signing_keys
from geolookup_builder.build_report import BuildReport
from geolookup_builder.check import check_loading
from geolookup_builder.check_report import Limits, RecipeCheck
from geolookup_builder.compile import compile_recipe
from geolookup_builder.memory import MemoryBudget
from geolookup_builder.overlaid_sources import Options
from geolookup_builder.recipe.source_list import Source, recipe_of_call


@overload
def build(
    recipe: str | PathLike[str],
    output: str | PathLike[str],
    *,
    force: bool = False,
    rejects: str | PathLike[str] | None = None,
    max_rejects: int | None = None,
    max_memory: str | int | None = None,
    cache: str | PathLike[str] | None = None,
    offline: bool = False,
    signing_keys: SigningKeys = (),
) -> BuildReport: ...
@overload
def build(
    *,
    sources: Sequence[Source],
    output: str | PathLike[str],
    columns: Mapping[str, Any] | None = None,
    name: str | None = None,
    fields: Sequence[str] | None = None,
    force: bool = False,
    rejects: str | PathLike[str] | None = None,
    max_rejects: int | None = None,
    max_memory: str | int | None = None,
    cache: str | PathLike[str] | None = None,
    offline: bool = False,
    signing_keys: SigningKeys = (),
) -> BuildReport: ...
def build(
    recipe: str | PathLike[str] | None = None,
    output: str | PathLike[str] | None = None,
    *,
    sources: Sequence[Source] | None = None,
    columns: Mapping[str, Any] | None = None,
    name: str | None = None,
    fields: Sequence[str] | None = None,
    force: bool = False,
    rejects: str | PathLike[str] | None = None,
    max_rejects: int | None = None,
    max_memory: str | int | None = None,
    cache: str | PathLike[str] | None = None,
    offline: bool = False,
    signing_keys: SigningKeys = (),
) -> BuildReport:
    """Compile the sources of a recipe, or a list of sources, into a new dataset folder.

    >>> sites = pa.table({"network": ["8.8.8.0/24"], "city_name": ["Zug"], "country_code": ["CH"]})
    >>> report = geolookup.build(sources=[sites], output="sites")
    >>> geolookup.open("sites").get("8.8.8.8", "city")
    'Zug'

    ``recipe`` is a recipe file (``.toml``), the name of a packaged recipe, or a file or folder
    of data, whose format is then detected. A path that exists is not read as a name.

    ``sources`` are in order of precedence. Each is a path, whose format is detected; a table of
    Arrow, pandas or Polars, or of another library with Arrow's PyCapsule interface; or a dict with
    the keys of a ``[[source]]``, and ``table`` for a table. A table has the columns of a generic
    Parquet file. Reports and messages name it ``sources[0]`` and count its rows from 1.
    ``columns`` is the table ``[columns]`` of a recipe; ``name`` (by default "dataset")
    and ``fields`` are keys of its ``[dataset]``.

    With ``force`` an existing dataset is replaced, and ``max_drop`` of a source compares with it.
    ``rejects`` is a CSV file to write the rejected rows and the rows with invalid values to.
    ``max_rejects`` is the number of rejected rows that each source may have; None: 1 % of its rows.
    ``max_memory`` is the memory of the build, such as "1GB" or a number of bytes; None: three
    quarters of free memory. Ranges beyond it go to files beside the output. ``cache`` is the folder
    of downloaded files; None: ``$GEOLOOKUP_CACHE``, else the user's cache folder. With ``offline``
    remote sources are taken from the cache only. ``signing_keys`` is the file of a private key that
    signs the dataset, or several.

    The report has ``sources`` (rows and addresses of each), ``counts`` (rows of the dataset),
    ``coverage`` (addresses by layer and family), ``generation`` (its id), ``bytes`` (of all
    files) and ``seconds``. Raises BuildError for a bad recipe or source, QualityError for a dataset
    that does not meet ``[quality]`` of the recipe, KeyFileError for a file that is not a private
    key or that others may read, OutputError for an output that exists or cannot be written,
    TypeError for a source that is neither a path nor a table, ValueError for a recipe beside
    sources, for no sources, for a negative ``max_rejects`` and for a size that is not one. On an
    error the output does not change. Builds in one process run one after the other.
    """
    if output is None:
        raise TypeError("no output; pass the folder to create")
    if max_rejects is not None and max_rejects < 0:
        raise ValueError(f"max_rejects is {max_rejects}; it is a number of rows, 0 or more")
    MemoryBudget.of(max_memory)  # a malformed size
    options = Options(
        force,
        None if rejects is None else Path(rejects),
        max_rejects,
        None if cache is None else Path(cache),
        offline,
        signing_keys=read_signing_keys(signing_keys),
        max_memory=max_memory,
    )
    plan = recipe_of_call(recipe, sources, columns, name=name, fields=fields)
    return compile_recipe(plan, Path(output), options, Progress(silent=True))[0]


@overload
def check(
    recipe: str | PathLike[str],
    *,
    max_rejects: int | None = None,
    max_memory: str | int | None = None,
    cache: str | PathLike[str] | None = None,
) -> RecipeCheck: ...
@overload
def check(
    *,
    sources: Sequence[Source],
    columns: Mapping[str, Any] | None = None,
    max_rejects: int | None = None,
    max_memory: str | int | None = None,
    cache: str | PathLike[str] | None = None,
) -> RecipeCheck: ...
def check(
    recipe: str | PathLike[str] | None = None,
    *,
    sources: Sequence[Source] | None = None,
    columns: Mapping[str, Any] | None = None,
    max_rejects: int | None = None,
    max_memory: str | int | None = None,
    cache: str | PathLike[str] | None = None,
) -> RecipeCheck:
    """Read the sources of a recipe as ``build`` does, without a dataset, and return the findings.

    ``recipe``, ``sources``, ``columns``, ``max_rejects``, ``max_memory`` and ``cache`` are as for
    ``build``. Nothing is downloaded.

    The report has ``sources`` (files, format, tables, bad rows, and the ``problem`` of each that
    would end a build), ``problems`` of the recipe itself, ``has_problem`` and ``lines()``, the text
    of the command. An invalid recipe is a problem in the report. Raises BuildError if the name is
    neither a recipe nor data, ValueError for a negative ``max_rejects``; for sources the TypeError
    and ValueError of ``build``.
    """
    if max_rejects is not None and max_rejects < 0:
        raise ValueError(f"max_rejects is {max_rejects}; it is a number of rows, 0 or more")
    MemoryBudget.of(max_memory)  # a malformed size
    limits = Limits(max_rejects, None if cache is None else Path(cache), max_memory)
    report = RecipeCheck("" if recipe is None else str(recipe), limits)
    load = partial(recipe_of_call, recipe, sources, columns)
    return check_loading(report, load, Progress(silent=True))
