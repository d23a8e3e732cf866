"""The files of an overlay, and its compilation over a dataset."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from geolookup_builder.recipe.document import Recipe, SourceSpec

    from geolookup.dataset.files import Dataset

_RECIPE = ".toml"


def is_recipe(overlay: str) -> bool:
    """Return whether an overlay is a recipe; any other file is data."""
    return overlay.endswith(_RECIPE)


def overlay_files(overlay: str) -> list[Path]:
    """Return the local files that an overlay is made of, in a fixed order.

    Data are listed without the compiler: to open a compiled overlay imports nothing else.
    Raises BuildError for a recipe with an error.
    """
    path = Path(overlay)
    if not is_recipe(overlay):
        return sorted(file for file in _entries(path) if file.is_file()) or [path]
    from geolookup_builder.recipe import loading
    from geolookup_builder.sources.reading.inputs import paths

    recipe = loading.load(path)
    files = [path, *filter(None, (recipe.countries, recipe.enrich.stations))]
    for spec in recipe.sources:
        if spec.is_dataset:
            files += _files_of_dataset(spec)
        elif spec.remote is None:
            files += [file for file in paths(spec.path, spec.base, ("",)) if file.is_file()]
    return files


def _entries(folder: Path) -> list[Path]:
    with suppress(OSError):  # such as a name that is too long: the compiler reports it
        return [*folder.rglob("*")]
    return []


def _files_of_dataset(spec: SourceSpec) -> list[Path]:
    """Return the files that change when a dataset or a store changes."""
    from geolookup_builder.datasets.source import location

    from geolookup.dataset import layout as fmt
    from geolookup.store import pointer

    path = location(spec)
    return [path / pointer.CURRENT, path / fmt.MANIFEST] if path.is_dir() else [path]


def compile_overlay(overlay: str, base: Dataset, output: Path) -> None:
    """Compile an overlay over a dataset; BuildError for bad files, OutputError for a full disk."""
    from geolookup_builder.build_options import Options
    from geolookup_builder.compile import compile_recipe
    from geolookup_builder.recipe import loading

    from geolookup.progress import Progress

    recipe = _over(loading.load(overlay), base, is_data=not is_recipe(overlay))
    compile_recipe(recipe, output, Options(force=True), Progress(silent=True))


def _over(recipe: Recipe, base: Dataset, *, is_data: bool) -> Recipe:
    """Return a recipe with a dataset below its sources.

    A file of data may have the own columns of the dataset, under their names.
    """
    from dataclasses import replace

    from geolookup_builder.expected_rows import RowRules
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
