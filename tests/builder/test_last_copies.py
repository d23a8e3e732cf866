"""The last copy that compiled stays until a newer one has compiled, whatever a server answers.

The notes of the cache, with any JSON in the place of a member: a source, or an error.
"""

from __future__ import annotations

import itertools
import json
import os
import random
from contextlib import suppress
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from geolookup.errors import BuildError
from tests.builder.building import isps, recipe
from tests.builder.test_downloads import OTHER, ROWS, built, failing
from tests.conftest import build_at
from tests.internals.builder import Recipe, load, with_local_paths
from tests.internals.progress import Progress
from tests.internals.remote import CacheEntry
from tests.remote.serving import MODIFIED, Site, fetched, file, kept_files, remote, serving
from tests.tiers import one_of_each

#: Answers with status 200 that the checks of a download cannot tell from a file of rows.
BAD: dict[str, bytes] = {
    "JSON": b'{"error":"quota exceeded"}',
    "random": random.Random(7).randbytes(4000),
    "a header alone": b"network,isp\n",
    "other columns": b"a,b\n1,2\n",
    "half of the rows rejected": ROWS + b"8.8.8.8.8,two\n",
}
OFFLINE = "; 'geolookup build --offline' reads the copy of {} from 2026-11-20 that last compiled"


def source(site: Site, *lines: str) -> str:
    return "\n".join((f'path = "{site.url}/a.csv"', *lines))


def date_files(folder: Path) -> None:
    """Date what is in the cache: it was downloaded on 20 November."""
    at = datetime(2026, 11, 20, 12, tzinfo=UTC).timestamp()
    for path in folder.glob("cache/*/*/*"):
        os.utime(path, (at, at))


def conditions(site: Site) -> list[str | None]:
    """Return the entity tag of each request, and forget the requests."""
    tags = [headers.get("If-None-Match") for _, headers in site.asked]
    site.asked.clear()
    return tags


@pytest.mark.parametrize("name", one_of_each(BAD, lambda name: name.startswith("half")))
def test_a_bad_answer_keeps_the_last_copy_that_compiled(name: str, tmp_path: Path) -> None:
    bad = file(BAD[name], '"two"')
    with serving(file(ROWS)) as site:
        built(tmp_path, source(site))
        date_files(tmp_path)
        # Twice: neither the first failure nor the second loses it.
        for _ in range(2):
            site.plan[:] = [bad]
            text = failing(tmp_path, source(site), empty="", max_rejected=None)
            assert text.endswith(OFFLINE.format(f"{site.url}/a.csv")), text
            assert "\n" not in text
            assert kept_files(tmp_path, "a.csv") == [ROWS]
        assert conditions(site) == [None, '"one"', '"one"']
        output, _ = built(tmp_path, source(site), offline=True)
        assert isps(output, "8.8.8.8") == ["one"]
        assert site.asked == []
        # The server recovers: with the file of before, and with the tag of the bad answer.
        for act, isp in ((file(ROWS), "one"), (file(OTHER, '"two"'), "two")):
            site.plan[:] = [act]
            output, _ = built(tmp_path, source(site))
            assert isps(output, "8.8.8.8") == [isp]
            assert conditions(site) == ['"one"']
    assert kept_files(tmp_path, "a.csv") == [OTHER]


def test_a_file_that_was_only_downloaded_replaces_nothing(tmp_path: Path) -> None:
    """At most two copies stay: the last one that compiled, and the last one downloaded."""
    third = file(ROWS.replace(b"one", b"three"), '"three"')
    with serving(file(ROWS)) as site:
        built(tmp_path, source(site))
        for act in (file(BAD["JSON"], '"bad"'), file(OTHER, '"two"'), third):
            site.plan[:] = [act]
            fetched(f"{site.url}/a.csv", tmp_path)
        copies = kept_files(tmp_path, "a.csv")
        assert sorted(copies) == sorted((ROWS, ROWS.replace(b"one", b"three")))
        assert conditions(site) == [None, '"one"', '"bad"', '"two"']
        output, _ = built(tmp_path, source(site), offline=True)
        assert isps(output, "8.8.8.8") == ["three"]
    assert kept_files(tmp_path, "a.csv") == [ROWS.replace(b"one", b"three")]


def test_only_the_source_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    bad = file(BAD["JSON"], '"bad"')
    with serving(file(ROWS)) as one, serving(file(ROWS, '"b"')) as two:
        sources = (f'path = "{one.url}/a.csv"', f'path = "{two.url}/b.csv"')
        built(tmp_path, *sources)
        one.plan[:], two.plan[:] = [file(OTHER, '"two"')], [bad]
        failing(tmp_path, *sources)
        # The first one was read, but not compiled.
        assert sorted(kept_files(tmp_path, "a.csv")) == sorted((ROWS, OTHER))
        assert kept_files(tmp_path, "b.csv") == [ROWS]
        output, _ = built(tmp_path, *sources, offline=True)
    assert isps(output, "8.8.8.8") == ["two"]
    assert kept_files(tmp_path, "a.csv") == [OTHER]


def test_a_date_that_the_recipe_needs_and_the_server_spoils(tmp_path: Path) -> None:
    """The same bytes under another date, and the tag that the server returns to."""
    spoilt = (
        file(ROWS, '"two"', Last_Modified="Tue, 01 Jan 2999 08:00:00 GMT"),
        file(ROWS, '"two"'),
    )
    for number, act in enumerate(spoilt):
        folder = tmp_path / str(number)
        folder.mkdir()
        with serving(file(ROWS, Last_Modified=MODIFIED)) as site:
            text = source(site, 'date = "last-modified"')
            built(folder, text)
            site.plan[:] = [act]
            assert "last compiled" in failing(folder, text)
            site.plan[:] = [file(ROWS, '"two"', Last_Modified=MODIFIED)]
            output, _ = built(folder, text)
        (stated,) = json.loads((output / "manifest.json").read_bytes())["sources"]
        assert stated["date"] == "2020-11-19"


def test_a_cache_that_cannot_be_noted_in(tmp_path: Path) -> None:
    """The dataset is complete, or the first error is the one that counts."""
    with serving(file(ROWS)) as site:
        folder = tmp_path / "cache" / f"a.csv-{remote(f'{site.url}/a.csv', tmp_path).identity}"
        (folder / "compiled.json").mkdir(parents=True)
        (folder / "compiled.json" / "file").touch()
        output, _ = built(tmp_path, source(site))
        assert isps(output, "8.8.8.8") == ["one"]
        site.plan[:] = [file(BAD["other columns"], '"two"')]
        with CacheEntry(tmp_path / "cache", remote(f"{site.url}/a.csv", tmp_path)).lock():
            built(tmp_path, source(site), offline=True)


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
