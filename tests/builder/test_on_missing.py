"""``on_missing = "skip"``: a source without files is left out of a build, a damaged one is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builder.building import fails, isps, recipe
from tests.conftest import build_at
from tests.internals.remote import transfer
from tests.remote.serving import FAST, file, serving, status

ROWS = "network,isp\n8.8.8.0/24,one\n8.8.9.0/24,one\n"
DIGEST = "0" * 64
TWO = b"network,isp\n8.8.8.0/24,two\n"
SKIP = 'on_missing = "skip"'


@pytest.fixture(autouse=True)
def _fast(monkeypatch: pytest.MonkeyPatch) -> None:
    defaults = transfer.fetch.__defaults__ or ()
    fast = tuple(FAST if item is transfer.DEFAULT_LIMITS else item for item in defaults)
    monkeypatch.setattr(transfer.fetch, "__defaults__", fast)


def two(path: str, *lines: str) -> str:
    """A recipe of a source that may be missing, above ``b.csv``."""
    return recipe("\n".join((f'path = "{path}"', SKIP, *lines)), 'path = "b.csv"')


def test_missing_files_are_skipped(tmp_path: Path) -> None:
    """A file, a glob, a folder and a dataset; the dataset is that of the other source."""
    alone, expected = build_at(tmp_path, {"b.csv": ROWS}, recipe('path = "b.csv"'))
    (tmp_path / "empty").mkdir()
    for path, problem in {
        "a.csv": f"no file {tmp_path / 'a.csv'}",
        "a-*.csv": f"no file {tmp_path / 'a-*.csv'}",
        "empty": f"no file {tmp_path / 'empty'}",
    }.items():
        text = two(path, f'sha256 = "{DIGEST}"')
        _, report = build_at(tmp_path, {"b.csv": ROWS}, text)
        assert report.warnings == [f"{path}: skipped: {problem}"]
        assert f"warning: {path}: skipped: {problem}" in report.lines()
        assert report.generation == expected.generation
        text = recipe('path = "b.csv"', f'path = "{path}"\n{SKIP}')  # in the other order
        _, report = build_at(tmp_path, {"b.csv": ROWS}, text)
        assert (len(report.warnings), report.generation) == (1, expected.generation)
    error = fails(tmp_path, {"b.csv": ROWS}, two("a.csv").replace(SKIP, ""))
    assert error.problem == "no such file"
    text = two("old").replace('"csv"', '"dataset"', 1)
    assert build_at(tmp_path, {}, text)[1].warnings[0].startswith("old: skipped: no file ")
    build_at(tmp_path, {"a.csv": ROWS.replace("one", "two")}, two("a.csv"))
    assert isps(alone, "8.8.8.8") == ["two"]


def test_a_failed_download(tmp_path: Path) -> None:
    """It is skipped, or read from the cache; other answers than those of a missing file end it."""
    cache = tmp_path / "cache"
    files: dict[str, str | bytes] = {"b.csv": ROWS}
    with serving(status(404)) as site:
        text, before = two(f"{site.url}/a.csv"), f"a.csv: skipped: {site.url}/a.csv: "

        def warnings(**options: object) -> list[str]:
            return build_at(tmp_path, files, text, **{"cache": cache, **options})[1].warnings

        assert warnings()[0].startswith(f"{before}no such file on the server (404)")
        for code, problem in (
            (403, "the server refuses access (403)"),
            (503, "the server answers"),
        ):
            site.plan[:] = [status(code)]
            assert warnings()[0].startswith(before + problem)
        site.plan[:] = [file(TWO)]
        output, report = build_at(tmp_path, files, text, cache=cache)
        assert (report.warnings, isps(output, "8.8.8.8")) == ([], ["two"])
        site.plan[:] = [status(503)]
        (warning,) = warnings()
        assert warning.startswith(f"a.csv: its cached copy is used: {site.url}/a.csv: the server")
        assert isps(output, "8.8.8.8") == ["two"]
        other = {"cache": tmp_path / "other"}
        assert warnings(offline=True, **other)[0].startswith(f"{before}not in the cache at ")
        site.plan[:] = [file(b"<html></html>", Content_Type="text/html")]
        assert "HTML page" in str(fails(tmp_path, files, text, **other))
        text = two(f"{site.url}/a.csv", f'sha256 = "{DIGEST}"')
        site.plan[:] = [file(TWO)]
        assert "SHA-256" in str(fails(tmp_path, files, text, **other))
