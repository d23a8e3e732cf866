"""``geolookup update --download-only`` as a shell runs it: its lines, its status."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.program import refusal, run
from tests.remote.serving import Handler, file, serving, status

DOWNLOAD = ("update", "--download-only")
ROWS = b"network,isp\n" + b"8.8.8.0/24,one\n" * 20_000


def write_recipe(folder: Path, *paths: str) -> str:
    sources = "".join(f'[[source]]\nformat = "csv"\npath = "{path}"\n' for path in paths)
    path = folder / "recipe.toml"
    path.write_text(f'[dataset]\nname = "t"\n{sources}', encoding="utf-8")
    return str(path)


def test_a_line_for_each_source(tmp_path: Path) -> None:
    size = f"{len(ROWS):,} bytes"
    with serving(file(ROWS)) as site:
        recipe = write_recipe(tmp_path, f"{site.url}/a.csv", "local.csv", f"{site.url}/b.csv")
        cache = ("--cache", str(tmp_path / "cache"), "--store", str(tmp_path / "store"))
        first, second = run(*DOWNLOAD, recipe, *cache), run(*DOWNLOAD, recipe, *cache)
    assert first.stdout == f"a.csv: fetched {size}\nb.csv: fetched {size}\n"
    assert second.stdout == f"a.csv: unchanged, {size}\nb.csv: unchanged, {size}\n"
    assert (first.returncode, first.stderr) == (second.returncode, second.stderr) == (0, "")
    assert not (tmp_path / "store").exists()


def test_what_fails_does_not_stop_the_rest(tmp_path: Path) -> None:
    def act(handler: Handler) -> None:
        (status(404) if "none" in handler.path else file(ROWS))(handler)

    with serving(act) as site:
        recipe = write_recipe(tmp_path, f"{site.url}/none.csv", f"{site.url}/b.csv")
        done = run(*DOWNLOAD, recipe, "--cache", str(tmp_path / "cache"))
    problem = "no such file on the server (404); correct the path in the recipe"
    assert done.stderr == f"geolookup: none.csv: {site.url}/none.csv: {problem}\n"
    assert done.stdout.startswith("b.csv: fetched ")
    assert done.returncode == 1


def test_a_malformed_key_comes_before_the_first_download(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is named by its variable and its form, and never shown."""
    monkeypatch.setenv("VENDOR_KEY", "hidden")
    key = 'key_env = "VENDOR_KEY"\nkey_form = "ID:KEY (at home)"\n'
    with serving(file(ROWS)) as site:
        recipe = write_recipe(tmp_path, f"{site.url}/a.csv", f"{site.url}/b.csv")
        with Path(recipe).open("a", encoding="utf-8") as stream:
            stream.write(key)
        output = ("--output", str(tmp_path / "out"))
        for status, command in ((1, ("update",)), (1, DOWNLOAD), (2, ("build", *output))):
            told = refusal(*command, recipe, status=status)
            problem = "the key in the environment variable VENDOR_KEY is not of the form ID:KEY"
            assert told == f"{recipe}: {problem}; write ID:KEY (at home)"
    assert site.asked == []
