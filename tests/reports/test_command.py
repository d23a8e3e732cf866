"""``geolookup report`` and ``map`` as commands: what they write, and one line where they fail."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.program import run
from tests.comparison.conftest import old_and_new
from tests.datasets import SMALL
from tests.skips import needs

pytestmark = needs("jinja2", "PIL", "vl_convert")
_FILES = {
    "a.csv": "ip\n93.180.39.77\n",
    "empty.csv": "10.0.0.0/24,US,,,\n",
    "feed.csv": "8.8.8.0/24,US,,,\n",
}
#: The arguments, with IN for the folder of the files, and what the line says.
_CASES = (
    ("report SMALL --against missing", "missing"),
    ("report SMALL --against SMALL --fail-if contry_moved>2%", "'country_moved'"),
    ("report SMALL --fail-if country_moved>2%", "--fail-if needs --against"),
    ("report SMALL --truth missing.csv", "missing.csv"),
    ("report SMALL --truth IN/empty.csv", "no row states the location of a public address"),
    ("report SMALL --truth IN/feed.csv --truth-format geofed", "'geofeed'"),
    ("map IN/a.csv --output IN/a.csv --force", "is the input"),
    ("map IN --output IN/a.csv --force", "is the input"),
    ("map IN/a.csv --output IN/none/x.html", "no such folder"),
    ("map IN/a.csv --ip-column name", "no column 'name'"),
    ("map IN/a.csv --at when", "no column 'when'"),
    ("map IN/a.csv --at ip", "row 2: an instant is of no known"),
    ("map IN/a.csv --at-zone UTC", "name it by --at"),
    ("map IN/a.csv --at ip --at-zone Mars", "no time zone"),
    ("map IN/no.csv", "No such file"),
)


def test_a_line_that_says_what_to_do(tmp_path: Path) -> None:
    for name, text in _FILES.items():
        (tmp_path / name).write_text(text)
    for case, said in _CASES:
        words = [*case.split(), *([] if "--output" in case else ["--output", "IN/x.html"])]
        done = run(*(_path(word, tmp_path) for word in words))
        assert done.returncode == 2, case
        assert said in done.stderr, case
        assert done.stderr.count("\n") == 1, case
        assert "93.180" not in done.stderr, case
        assert {path.name: path.read_text() for path in tmp_path.iterdir()} == _FILES, case


@pytest.mark.long
def test_the_page_and_its_pictures_are_written(tmp_path: Path) -> None:
    output, png = tmp_path / "report.html", tmp_path / "png"
    done = run("report", str(SMALL), "--output", str(output), "--png", str(png))
    assert str(output) in done.stdout
    assert "ipv4.arrow" in output.read_text(encoding="utf-8")
    assert (png / "file-sizes.png").read_bytes().startswith(b"\x89PNG")


def test_without_a_name_the_page_shows_what_lookups_answer_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, new = old_and_new()
    monkeypatch.setenv("GEOLOOKUP_DATASET", str(new))
    for name, dataset in (("named", [str(new)]), ("unnamed", [])):
        done = run("report", *dataset, "--output", str(tmp_path / name))
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "unnamed").read_bytes() == (tmp_path / "named").read_bytes()


def _path(word: str, folder: Path) -> str:
    return str(SMALL) if word == "SMALL" else word.replace("IN", str(folder))
