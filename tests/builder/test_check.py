"""A check finds what ends a build, goes on with the next source, and changes nothing."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.builder.building import fails, recipe
from tests.builder.sources.readings import one, refused
from tests.builder.sources.test_refusals import REFUSED
from tests.internals.builder import FORMATS, Options, RecipeCheck, SourceCheck, check_recipe
from tests.internals.progress import Progress

ROWS = "network,country_code,city_name\n8.8.8.0/24,DE,Berlin\n10.0.0.0/8,DE,Bonn\n"


def checked(folder: Path, files: dict[str, str], text: str, **limits: int | Path) -> RecipeCheck:
    for name, content in files.items():
        (folder / name).write_text(content, encoding="utf-8")
    (folder / "recipe.toml").write_text(text, encoding="utf-8")
    return check_recipe(folder / "recipe.toml", Options(**limits), Progress(silent=True))  # type: ignore[arg-type]


def source_of(report: RecipeCheck) -> SourceCheck:
    (source,) = report.sources
    return source


def test_files_format_fields_and_rows(tmp_path: Path) -> None:
    text = '[dataset]\nname = "d"\n[[source]]\nformat = "auto"\npath = "?.csv"\n'
    report = checked(tmp_path, {"a.csv": ROWS, "b.csv": ROWS}, text + 'fields = ["country_code"]\n')
    assert not report.has_problem
    path = shlex.quote(str(tmp_path / "recipe.toml"))
    assert [*report.lines()] == [
        "?.csv",
        f"  files       a.csv ({len(ROWS)} bytes), b.csv ({len(ROWS)} bytes)",
        "  format      csv, detected: columns network, country_code, city_name",
        "  fields      country_code",
        "  left out    city_name (fields of the recipe)",
        "  rows        4 rows read, 1 used",
        "  duplicate   2 rows with the range of a later row",
        "  clipped     2 rows, 33,554,432 addresses in special-purpose space",
        f"no problem; to build it: geolookup build {path} -o DIR",
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "b.csv", "recipe.toml"]


PROBLEMS: dict[str, tuple[dict[str, str], str]] = {
    "no file": ({}, 'path = "a.csv"'),
    "unknown column": ({"a.csv": ROWS.replace("city_name", "city_nam")}, 'path = "a.csv"'),
    "delimiter": ({"a.csv": ROWS.replace(",", ";")}, 'path = "a.csv"'),
    "rejected rows": ({"a.csv": ROWS.replace("/24", "/33")}, 'path = "a.csv"'),
    "no usable row": ({"a.csv": ROWS[:31]}, 'path = "a.csv"'),
    "few rows": ({"a.csv": ROWS}, 'path = "a.csv"\nmin_rows = 2'),
    "releases": ({"a-2026-01.csv": ROWS, "a-2026-02.csv": ROWS}, 'path = "*.csv"'),
    "digest": ({"a.csv": ROWS}, f'path = "a.csv"\nsha256 = "{"0" * 64}"'),
    "option": ({"a.csv": ROWS}, 'path = "a.csv"\ncolumns = { network = "cidr" }'),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_problem_is_the_error_of_a_build(name: str, tmp_path: Path) -> None:
    files, source = PROBLEMS[name]
    report = checked(tmp_path, files, recipe(source, 'path = "good.csv"\nempty = "ok"'))
    (tmp_path / "good.csv").write_text(ROWS, encoding="utf-8")
    error = fails(tmp_path, {**files}, recipe(source), max_rejects=None, empty="")
    assert report.sources[0].problem == str(error)
    # The next source is checked in any case; its file came later.
    assert "no such file" in report.sources[1].problem


@pytest.mark.parametrize("name", [*FORMATS, "auto"])
def test_no_format_is_read_in_a_second_way(name: str, tmp_path: Path) -> None:
    limits = Options(max_rejects=10**9)
    for (source_format, file_name), cases in REFUSED.items():
        for options, content, _ in cases if source_format == name else ():
            text = one(name, file_name, options)
            error = refused(tmp_path, file_name, content, text)
            report = check_recipe(tmp_path / "recipe.toml", limits, Progress(silent=True))
            assert source_of(report).problem == str(error)


def test_problems_of_the_recipe_itself(tmp_path: Path) -> None:
    text = recipe('path = "a.csv"') + '[tables]\ncountries = "none.csv"\n'
    report = checked(tmp_path, {"a.csv": ROWS}, text)
    assert ["none.csv" in problem for problem in report.problems] == [True]
    assert source_of(report).tables[0].used == 1
    report = checked(tmp_path, {}, recipe('path = "a.csv"').replace('"test"', "5"))
    assert [*report.lines()][-1] == "1 problem: build would fail"
    assert "dataset.name is not a text" in report.problems[0]
