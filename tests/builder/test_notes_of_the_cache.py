"""The notes of the cache, with any JSON in the place of a member: a source, or an error."""

from __future__ import annotations

import itertools
import json
import os
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from geolookup.errors import BuildError
from tests.builder.building import recipe
from tests.conftest import build_at
from tests.internals.builder import Recipe, load, with_local_paths
from tests.internals.progress import Progress
from tests.remote.serving import file, serving

ROWS = b"network,isp\n8.8.8.0/24,one\n"
MODIFIED = "Thu, 19 Nov 2020 08:00:00 GMT"
VALUES: list[Any] = [
    *(None, True, 7, 1e300, "", "x", "\0", [], [["x"]], {}, {"a": {}}, "9" * 5000),
    *("2020-13-01", "2020-11-19", "2020-11-19T08:00:00", "20201119T080000+00:00"),
    *("0001-01-01T00:00:00+00:00", "9999-12-31T23:59:59+00:00", "2020-11-19T08:00:00+23:59"),
    *("../../../../etc/passwd", "0" * 64),
]


@pytest.mark.parametrize("name", ["kept.json", "compiled.json", "part.json"])
def test_any_value_in_the_place_of_a_member(tmp_path: Path, name: str) -> None:
    with serving(file(ROWS, Last_Modified=MODIFIED)) as site:
        text = recipe(f'path = "{site.url}/a.csv"\ndate = "last-modified"')
        build_at(tmp_path, {}, text, cache=tmp_path / "cache")
    plan, cache = load(tmp_path / "recipe.toml"), tmp_path / "cache"
    (kept,) = cache.glob("*/kept.json")
    note = kept.with_name(name)
    stated = (
        json.loads(note.read_bytes()) if note.exists() else {"etag": "", "bytes": 0, "sha256": ""}
    )
    for member, value in itertools.product(stated, VALUES):
        note.write_text(json.dumps({**stated, member: value}), encoding="utf-8")
        check_source(plan, cache)
    for document in VALUES:
        note.write_text(json.dumps(document), encoding="utf-8")
        check_source(plan, cache)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="POSIX has FIFOs")
def test_a_fifo_in_the_place_of_a_note(tmp_path: Path) -> None:
    """Nobody writes to it: a read would wait for ever."""
    with serving(file(ROWS, Last_Modified=MODIFIED)) as site:
        text = recipe(f'path = "{site.url}/a.csv"\ndate = "last-modified"')
        cache = tmp_path / "cache"
        build_at(tmp_path, {}, text, cache=cache)
        for name in ("part.json", "compiled.json", "kept.json"):
            (kept,) = cache.glob("*/kept.json")
            kept.with_name(name).unlink(missing_ok=True)
            os.mkfifo(kept.with_name(name))
            build_at(tmp_path, {}, text, cache=cache, force=True)


def test_a_file_in_the_place_of_the_part(tmp_path: Path) -> None:
    with serving(file(ROWS)) as site:
        remote = recipe(f'path = "{site.url}/a.csv"')
        build_at(tmp_path, {}, remote, cache=tmp_path / "cache")
        (kept,) = (tmp_path / "cache").glob("*/kept.json")
        kept.unlink()
        kept.with_name("compiled.json").unlink()
        kept.with_name("part").touch()
        build_at(tmp_path, {}, remote, cache=tmp_path / "cache", force=True)


def check_source(plan: Recipe, cache: Path) -> None:
    with suppress(BuildError):
        (source,) = with_local_paths(plan, cache, Progress(silent=True), offline=True).sources
        assert source.texts["date"] == str(date.fromisoformat(source.texts["date"]))
        assert Path(source.path).read_bytes() == ROWS
