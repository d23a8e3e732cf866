"""Building from remote sources: what is fetched is built, and nothing tells when it was."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

import geolookup
from tests.builder.building import fails, isps, recipe
from tests.conftest import build_at
from tests.internals.builder import BuildReport
from tests.internals.remote import transfer
from tests.remote.serving import MODIFIED, Handler, file, serving, status
from tests.signing.keys import key_files
from tests.skips import needs

ROWS = b"network,isp\n8.8.8.0/24,one\n"
OTHER = ROWS.replace(b"one", b"two")


def built(folder: Path, *sources: str, **options: object) -> tuple[Path, BuildReport]:
    return build_at(folder, {}, recipe(*sources), cache=folder / "cache", **options)


def failing(folder: Path, *sources: str, **options: object) -> str:
    return str(fails(folder, {}, recipe(*sources), cache=folder / "cache", **options))


def test_the_dataset_does_not_tell_when_or_whence_it_was_fetched(tmp_path: Path) -> None:
    """The same bytes as from a file of that name, but for a date that is asked for."""
    (tmp_path / "a.csv").write_bytes(ROWS)
    local, _ = build_at(tmp_path, {}, recipe('path = "a.csv"'), force=True)
    wanted = (local / "manifest.json").read_bytes()
    with serving(file(ROWS, Last_Modified=MODIFIED)) as site:
        for _ in range(2):
            output, _ = built(tmp_path, f'path = "{site.url}/a.csv?key=s3cr3t"')
            assert (output / "manifest.json").read_bytes() == wanted


def test_offline_takes_what_is_there(tmp_path: Path) -> None:
    with serving(file(ROWS)) as site:
        source = f'path = "{site.url}/a.csv"'
        remedy = "download it with 'geolookup update RECIPE --download-only'"
        text = f"{site.url}/a.csv: not in the cache at {tmp_path / 'cache'}"
        assert failing(tmp_path, source, offline=True) == f"{text}; {remedy}"
        built(tmp_path, source)
        asked = len(site.asked)
        output, _ = built(tmp_path, source, offline=True)
        assert isps(output, "8.8.8.8") == ["one"]
        assert len(site.asked) == asked
        pinned = f'{source}\nsha256 = "{"0" * 64}"'
        assert failing(tmp_path, pinned, offline=True).startswith(f"{text}; ")
        (path,) = tmp_path.glob("cache/*/*/a.csv")
        path.write_bytes(OTHER)
        assert failing(tmp_path, source, offline=True).startswith(f"{text}; ")


def test_a_relative_cache_is_of_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not of the folder of the recipe, as the path of a local source."""
    (tmp_path / "recipes").mkdir()
    monkeypatch.chdir(tmp_path)
    with serving(file(ROWS)) as site:
        text = recipe(f'path = "{site.url}/a.csv"')
        output, _ = build_at(Path("recipes"), {}, text, cache=Path("cache"))
        assert isps(output, "8.8.8.8") == ["one"]
    assert [*tmp_path.glob("cache/*/*/a.csv")]


def test_the_date_of_the_server_is_taken_where_it_is_asked_for(tmp_path: Path) -> None:
    with serving(file(ROWS, Last_Modified=MODIFIED)) as site:
        asked = f'path = "{site.url}/a.csv"\ndate = "last-modified"'
        for options in ({}, {"offline": True}):
            output, _ = built(tmp_path, asked, **options)
            (source,) = json.loads((output / "manifest.json").read_bytes())["sources"]
            assert source["date"] == "2020-11-19"
    with serving(file(ROWS)) as site:
        asked = f'path = "{site.url}/a.csv"\ndate = "last-modified"'
        assert "sends no Last-Modified; write" in failing(tmp_path, asked)
    with serving(file(ROWS, Last_Modified="Tue, 01 Jan 2999 08:00:00 GMT")) as site:
        asked = f'path = "{site.url}/a.csv"\ndate = "last-modified"'
        for options in ({}, {"offline": True}):
            problem = "its Last-Modified, 2999-01-01, is in the future; write the date"
            assert problem in failing(tmp_path, asked, **options)
    (tmp_path / "a.csv").write_bytes(ROWS)
    asked = 'path = "a.csv"\ndate = "last-modified"'
    assert "source.date is 'last-modified' for a local path" in failing(tmp_path, asked)


def test_the_month_of_an_address_is_the_date(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transfer, "today", lambda: date(2026, 12, 2))

    def act(handler: Handler) -> None:
        (file(ROWS) if "2026-11" in handler.path else status(404))(handler)

    with serving(act) as site:
        asked = f'path = "{site.url}/a-{{month}}.csv"'
        for options in ({}, {"offline": True}):
            output, _ = built(tmp_path, asked, **options)
            (source,) = json.loads((output / "manifest.json").read_bytes())["sources"]
            assert (source["name"], source["date"]) == ("a-{month}.csv", "2026-11")
        output, _ = built(tmp_path, f'{asked}\ndate = "2020-01"')
        (source,) = json.loads((output / "manifest.json").read_bytes())["sources"]
        assert source["date"] == "2020-01"


@needs("cryptography")
def test_what_is_signed_comes_from_a_cache_of_one_owner(tmp_path: Path) -> None:
    """Whoever can write a download can write its digest beside it."""
    store, output, cache = tmp_path / "store", tmp_path / "data", tmp_path / "cache"
    path = tmp_path / "recipe.toml"
    keys: dict[str, Any] = {"signing_keys": key_files()[0], "cache": cache}
    with serving(file(ROWS)) as site:
        path.write_text(recipe(f'path = "{site.url}/a.csv"'), "utf-8")
        geolookup.update(path, store=store, **keys)
        geolookup.build(path, output, offline=True, **keys)
        (note,) = cache.glob("*/kept.json")
        note.chmod(0o666)
        problem = f"cache is not safe: {note}: every user may write it; run chmod go-w"
        with pytest.raises(geolookup.errors.UpdateError, match=problem):
            geolookup.update(path, store=store, **keys)
        for offline in (True, False):
            with pytest.raises(geolookup.errors.BuildError, match=problem):
                geolookup.build(path, output, offline=offline, force=True, **keys)
        geolookup.build(path, output, cache=cache, force=True)
