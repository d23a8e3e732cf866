"""A dataset that is exported and compiled again gives every answer that it gave."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import geolookup
from tests.conftest import build_at
from tests.export.reading import expected
from tests.internals.export import fields_of
from tests.internals.kernel import state_of
from tests.oracle import OwnColumn, Source
from tests.range_strategies import as_csv, own_recipes, recipe, recipes
from tests.tiers import one_of_each, scaled

#: Format and form of ranges, and the path in a recipe.
_FORMATS = (
    ("csv", "range", "a.csv"),
    ("csv", "cidr", "a.csv.gz"),
    ("jsonl", "range", "a.jsonl"),
    ("jsonl", "cidr", "a.jsonl.zst"),
    ("parquet", "range", "a/*/*.parquet"),
    ("parquet", "cidr", "a/*/*.parquet"),
)


def again(engine: geolookup.Engine, folder: Path, name: str, form: str, path: str) -> Path:
    """Export a dataset and compile the export, with the same own columns."""
    engine.export(folder / path.partition("/")[0], name, ranges=form)
    source = f'[[source]]\nformat = "{name}"\npath = "{path}"\n'
    recipe = f'[dataset]\nname = "again"\n{columns_of(engine)}{source}'
    output, report = build_at(folder, {}, recipe)
    assert all(not item.rejected for item in report.sources)
    return output


def columns_of(engine: geolookup.Engine) -> str:
    """Return the table of a recipe that declares the columns of a dataset."""
    lines = [
        f'{column["name"]} = {{ type = "{column["type"]}"'
        f", private = {str(column.get('private', False)).lower()} }}"
        for column in engine.metadata.columns
    ]
    return "\n".join(["[columns]", *lines, ""]) if lines else ""


@pytest.mark.parametrize("way", one_of_each(_FORMATS, lambda way: way[1]))
def test_hostile_texts(
    hostile: geolookup.Engine, tmp_path: Path, way: tuple[str, str, str]
) -> None:
    with geolookup.open(again(hostile, tmp_path, *way)) as engine:
        fields = fields_of(None, state_of(hostile).dataset.schema)
        # JSON lines need integers beyond 2^53 as texts.
        lost = "own.risk" if way[0] == "jsonl" else ""
        paths = [field.path for field in fields if field.path != lost]
        assert expected(engine, paths) == expected(hostile, paths)


@pytest.mark.long
@settings(max_examples=scaled(3, 10), suppress_health_check=list(HealthCheck))
@given(recipes.map(lambda listed: ([], listed)) | own_recipes(), st.sampled_from(_FORMATS))
def test_any_dataset(
    drawn: tuple[list[OwnColumn], list[Source]], export_format: tuple[str, str, str]
) -> None:
    columns, listed = drawn
    files: dict[str, str | bytes] = {f"{n}.csv": as_csv(item) for n, item in enumerate(listed)}
    with TemporaryDirectory() as folder:
        output, _ = build_at(Path(folder), files, recipe(listed, columns))
        with geolookup.open(output) as engine:
            wanted = expected(engine)
            assume(wanted)  # a source needs rows
            target = Path(folder, "again")
            target.mkdir()
            with geolookup.open(again(engine, target, *export_format)) as other:
                assert expected(other) == wanted
