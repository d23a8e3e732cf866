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
from tests.oracle import Source
from tests.range_strategies import as_csv, recipe, recipes
from tests.tiers import scaled

pytestmark = pytest.mark.long
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
    """Export a dataset and compile the export."""
    engine.export(folder / path.partition("/")[0], name, ranges=form)
    source = f'[[source]]\nformat = "{name}"\npath = "{path}"\n'
    output, report = build_at(folder, {}, f'[dataset]\nname = "again"\n{source}')
    assert all(not item.rejected for item in report.sources)
    return output


@pytest.mark.parametrize(("name", "form", "path"), _FORMATS)
def test_hostile_texts(
    hostile: geolookup.Engine, tmp_path: Path, name: str, form: str, path: str
) -> None:
    with geolookup.open(again(hostile, tmp_path, name, form, path)) as engine:
        assert expected(engine) == expected(hostile)


@settings(max_examples=scaled(1, 8), suppress_health_check=list(HealthCheck))
@given(recipes, st.sampled_from(_FORMATS))
def test_any_dataset(listed: list[Source], export_format: tuple[str, str, str]) -> None:
    files: dict[str, str | bytes] = {f"{n}.csv": as_csv(item) for n, item in enumerate(listed)}
    with TemporaryDirectory() as folder:
        output, _ = build_at(Path(folder), files, recipe(listed))
        with geolookup.open(output) as engine:
            wanted = expected(engine)
            assume(wanted)  # a source needs rows
            target = Path(folder, "again")
            target.mkdir()
            with geolookup.open(again(engine, target, *export_format)) as other:
                assert expected(other) == wanted
