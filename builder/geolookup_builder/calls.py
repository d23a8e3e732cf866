"""The calls of Python: ``build`` and ``check``, of a recipe or of a list of sources."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

from geolookup.progress import current
from geolookup.signing.keys import SigningKeys, read_signing_keys
from geolookup_builder.build_report import BuildReport
from geolookup_builder.check import RecipeCheck, check_recipe
from geolookup_builder.compile import compile_recipe
from geolookup_builder.limits import Options
from geolookup_builder.recipe.loading import Source, recipe_of_call


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
    max_rejected: int | str | None = None,
    max_nulled: int | str | None = None,
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
    ``max_rejected`` is the number of rejected rows that each source may have, ``max_nulled`` the
    number of invalid values of each of its fields; either may be a share such as "5%". By
    default, the limits of the recipe apply, or 1 %.
    ``max_memory`` is the memory of the build, such as "1GB" or a number of bytes; by default,
    three quarters of free memory. Ranges beyond it go to files beside the output. ``cache`` is the
    folder of downloaded files; by default, ``$GEOLOOKUP_CACHE``, else the user's cache folder. With
    ``offline`` remote sources are taken from the cache only. ``signing_keys`` is the file of a
    private key that signs the dataset, or several.

    The report has ``sources`` (rows and addresses of each), ``counts`` (rows of the dataset),
    ``coverage`` (addresses by layer and family), ``generation`` (its id), ``bytes`` (of all
    files) and ``seconds``. Raises BuildError for a bad recipe or source, QualityError for a dataset
    that does not meet ``[quality]`` of the recipe, KeyFileError for a file that is not a private
    key or that others may read, OutputError for an output that exists or cannot be written,
    TypeError for a source that is neither a path nor a table, ValueError for a recipe beside
    sources, for no sources, for a malformed limit and for a size that is not one. On an
    error the output does not change. Builds in one process run one after the other.
    """
    if output is None:
        raise TypeError("no output; pass the folder to create")
    options = Options(
        force=force,
        rejects=None if rejects is None else Path(rejects),
        max_rejected=max_rejected,
        max_nulled=max_nulled,
        max_memory=max_memory,
        cache=None if cache is None else Path(cache),
        offline=offline,
        signing_keys=read_signing_keys(signing_keys),
    )
    plan = recipe_of_call(recipe, sources, columns, name=name, fields=fields)
    return compile_recipe(plan, Path(output), options, current())[0]


def check(
    recipe: str | PathLike[str] | None = None,
    *,
    sources: Sequence[Source] | None = None,
    columns: Mapping[str, Any] | None = None,
    max_rejected: int | str | None = None,
    max_nulled: int | str | None = None,
    max_memory: str | int | None = None,
    cache: str | PathLike[str] | None = None,
    against: str | PathLike[str] | None = None,
) -> RecipeCheck:
    """Build a recipe without leaving a dataset, and return the findings.

    ``recipe``, ``sources``, ``columns``, ``max_rejected``, ``max_nulled``, ``max_memory`` and
    ``cache`` are as for ``build``. ``against`` is an earlier dataset, or a store, to compare the
    new one with. Nothing is downloaded.

    The report has ``sources`` (files, format, tables, bad rows, and the ``problem`` of each that
    would end a build) and ``problems`` of the recipe itself. Without a problem it has ``quality``
    (the demands of ``[quality]``), ``counts``, ``coverage``, ``files`` (bytes of each), ``memory``
    and ``against`` (rows, lost values, gates). ``has_problem`` and ``is_refused`` say whether a
    build or an update would fail, ``lines()`` is the text of the command.

    Raises BuildError if the name is neither a recipe nor data, DatasetError if ``against`` is not a
    dataset, OutputError if the temporary folder is full, ValueError for a malformed limit;
    for sources the TypeError and ValueError of ``build``.
    """
    options = Options(
        max_rejected=max_rejected,
        max_nulled=max_nulled,
        max_memory=max_memory,
        cache=None if cache is None else Path(cache),
    )
    load = partial(recipe_of_call, recipe, sources, columns)
    name = "" if recipe is None else os.fspath(recipe)
    return check_recipe(name, options, current(), against, load)
