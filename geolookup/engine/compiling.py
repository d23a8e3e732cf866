"""Files of data and recipes: the files that each refers to, and its compilation."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path

from geolookup.dataset import unreadable
from geolookup.errors import BuildError, line_text

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from collections.abc import Iterator

    from geolookup_builder.recipe.document import Recipe, SourceSpec

    from geolookup.dataset.files import Dataset

_RECIPE, _COMPILER = ".toml", "geolookup_builder"


def is_recipe(file: str) -> bool:
    """Return whether a file is a recipe; any other is data."""
    return file.endswith(_RECIPE)


def files_of(file: str) -> list[Path]:
    """Return the local files that the result of a file is made of, in a fixed order.

    Data are listed without the compiler: to open a compiled file imports nothing else.
    Raises BuildError for a recipe with an error, and without the compiler.
    """
    path = Path(file)
    if not is_recipe(file):
        return sorted(entry for entry in _entries(path) if entry.is_file()) or [path]
    with _needing_compiler(file):
        from geolookup_builder.recipe import loading
        from geolookup_builder.sources.reading.inputs import paths

    recipe = loading.load(path)
    files = [path, *filter(None, [recipe.countries])]
    for spec in recipe.sources:
        if spec.is_dataset:
            files += _files_of_dataset(spec)
        elif spec.remote is None:
            files += [found for found in paths(spec.path, spec.base, ("",)) if found.is_file()]
    return files


@contextmanager
def _needing_compiler(file: str) -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name and error.name.partition(".")[0] == _COMPILER:
            problem = f"a file is compiled before it answers, but {_COMPILER} is not installed"
            remedy = "install it, or open a dataset that was built elsewhere"
            raise BuildError(file, problem, remedy=remedy) from error
        raise


def _entries(folder: Path) -> list[Path]:
    with suppress(OSError):  # such as a name that is too long: the compiler reports it
        return [*folder.rglob("*")]
    return []


def _files_of_dataset(spec: SourceSpec) -> list[Path]:
    """Return the files that change when a dataset or a store changes."""
    from geolookup_builder.dataset_source import location

    from geolookup.dataset import layout as fmt
    from geolookup.store import pointer

    path = location(spec)
    return [path / pointer.CURRENT, path / fmt.MANIFEST] if path.is_dir() else [path]


def compile_file(file: str, base: Dataset | None, output: Path) -> None:
    """Compile a file, over a dataset if there is one; what it loses is written to the log.

    Raises BuildError for bad files and without the compiler, OutputError for a full disk.
    """
    with _needing_compiler(file):
        from geolookup_builder.compile import compile_recipe
        from geolookup_builder.limits import Options
        from geolookup_builder.recipe import loading

    from logging import getLogger

    from geolookup.progress import current

    recipe = loading.load(file)
    if base is not None:
        recipe = _over(recipe, base, is_data=not is_recipe(file))
    try:
        report, _ = compile_recipe(recipe, output, Options(force=True), current())
    except BuildError as error:
        if hint := unreadable(file):
            raise BuildError(file, hint[0], remedy=hint[1]) from error
        raise
    losses = chain.from_iterable(source.losses() for source in report.sources)
    for line in chain(losses, map(line_text, report.warnings)):
        getLogger("geolookup").warning("%s", line)


def _over(recipe: Recipe, base: Dataset, *, is_data: bool) -> Recipe:
    """Return a recipe with a dataset below its sources.

    A file of data may have the own columns of the dataset, under their names.
    """
    from dataclasses import replace

    from geolookup_builder.limits import RowRules
    from geolookup_builder.recipe.document import DATASET, SourceSpec

    sources = recipe.sources
    if is_data:
        schema = base.schema
        fields = frozenset(schema.by_source_column)
        sources = tuple(replace(spec, schema=schema, fields=fields) for spec in sources)
        recipe = replace(recipe, schema=schema)
    below = SourceSpec(
        format=DATASET,
        path=base.path,
        fields=frozenset(recipe.schema.by_source_column),
        options={},
        texts={},
        recipe=recipe.path,
        base=Path(),
        expected=RowRules(may_be_empty=True),  # it opened
        schema=recipe.schema,
        manifest=base.manifest,  # its signature was checked
    )
    return replace(recipe, sources=(*sources, below))
