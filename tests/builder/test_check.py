"""A check finds what ends a build, goes on with the next source, and changes nothing."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
from geolookup_builder.check import check_recipe
from geolookup_builder.check_report import Limits, RecipeCheck, SourceCheck
from geolookup_builder.sources import FORMATS

from geolookup.progress import Progress
from tests.builder.building import fails, recipe
from tests.builder.sources.readings import one, refused
from tests.builder.sources.test_refusals import REFUSED
from tests.cli.program import run
from tests.conftest import build_at
from tests.remote.serving import file, serving

ROWS = "network,country_code,city_name\n8.8.8.0/24,DE,Berlin\n10.0.0.0/8,DE,Bonn\n"
BAD = "cidr;land;town;owner\n8.8.8.0/24;DE;Berlin;x\n8.8.9.0/33;DE;Bonn;x\n8.8.10.0/24;XX;Bonn;x\n"
MAPPING = 'delimiter = ";"\ncolumns = { network = "cidr", country_code = "land" }\n'


def checked(folder: Path, files: dict[str, str], text: str, **limits: int | Path) -> RecipeCheck:
    for name, content in files.items():
        (folder / name).write_text(content, encoding="utf-8")
    (folder / "recipe.toml").write_text(text, encoding="utf-8")
    return check_recipe(folder / "recipe.toml", Limits(**limits), Progress(silent=True))  # type: ignore[arg-type]


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


def test_the_limit_of_rejected_rows(tmp_path: Path) -> None:
    text = recipe(f'path = "a.csv"\n{MAPPING}')
    source = source_of(checked(tmp_path, {"a.csv": BAD}, text))
    assert "1 of 3 rows of a.csv" in source.problem
    assert [(row.file, row.line, row.text) for row in source.tables[0].bad_rows] == [
        ("a.csv", 3, "8.8.9.0/33;DE;Bonn;x"),
        ("a.csv", 4, "8.8.10.0/24;XX;Bonn;x"),
    ]
    assert "  not read    town (did you mean 'city_name'?), owner" in [*source.tables[0].lines()]
    report = checked(tmp_path, {"a.csv": BAD}, text, max_rejects=1)
    assert not report.has_problem
    losses = "1 row rejected, 1 invalid value nulled"
    assert [*report.lines()][-1].startswith(f"a build would succeed, with {losses}; to build it: ")
    report = checked(
        tmp_path,
        {"a.csv": "network,country_code\n8.8.8.0/24,XX\n8.8.9.0/24,DE\n"},
        recipe('path = "a.csv"'),
    )
    assert [*report.lines()][-1].startswith("a build would succeed, with 1 invalid value nulled; ")


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
    limits = Limits(max_rejects=10**9)
    for (source_format, file_name), cases in REFUSED.items():
        for options, content, _ in cases if source_format == name else ():
            text = one(name, file_name, options)
            error = refused(tmp_path, file_name, content, text)
            report = check_recipe(tmp_path / "recipe.toml", limits, Progress(silent=True))
            assert source_of(report).problem == str(error)


#: Data without a recipe that need one: the lines of the options that their recipe has.
NEEDING = {
    "country;town;network;owner\nDE;Berlin;8.8.8.0/24;x\nDE;Bonn;8.8.9.0/33;x\n": [
        'delimiter = ";"',
        'columns = { country_code = "country", city_name = "town", network = "network" }',
    ],
    "network,country_code,asn,office\n8.8.8.0/24,DE,1,HQ\n8.8.9.0/33,DE,1,HQ\n": [
        'columns = { network = "network", country_code = "country_code", asn = "asn" }',
    ],
    "network|isp\n8.8.8.0/24|x\n8.8.9.0/33|x\n": ['delimiter = "|"'],
    "network,isp,cuntry_code\n8.8.8.0/24,x,DE\n8.8.9.0/33,x,DE\n": [
        'columns = { network = "network", isp = "isp" }',
    ],
}


@pytest.mark.parametrize("text", NEEDING)
def test_data_that_need_a_recipe(text: str, tmp_path: Path) -> None:
    """The bad rows are listed, and the printed recipe compiles them."""
    path = tmp_path / "my sites.v1.csv"
    path.write_text(text, encoding="utf-8")
    report = check_recipe(path, Limits(), Progress(silent=True))
    assert source_of(report).problem.startswith(f"{path}:1: ")
    assert [row.line for row in source_of(report).tables[0].bad_rows] == [3]
    name = tmp_path / "my sites.toml"
    lines = [*report.lines()]
    at = lines.index(f"A recipe to write, such as {name}:") + 2
    assert lines[at + 5 :] == [f'path = "{path.name}"', *NEEDING[text]]
    name.write_text("\n".join(lines[at:]), encoding="utf-8")
    assert not check_recipe(name, Limits(max_rejects=1), Progress(silent=True)).has_problem
    error = run("build", str(path), "-o", str(tmp_path / "data")).stderr
    assert error.endswith(f"; to print a recipe that reads it: geolookup check '{path}'\n")


def test_problems_of_the_recipe_itself(tmp_path: Path) -> None:
    text = recipe('path = "a.csv"') + '[tables]\ncountries = "none.csv"\n'
    report = checked(tmp_path, {"a.csv": ROWS}, text)
    assert ["none.csv" in problem for problem in report.problems] == [True]
    assert source_of(report).tables[0].rows.used == 1
    report = checked(tmp_path, {}, recipe('path = "a.csv"').replace('"test"', "5"))
    assert [*report.lines()][-1] == "1 problem: build would fail"
    assert "dataset.name is not a text" in report.problems[0]


def test_a_remote_source_is_read_from_the_cache(tmp_path: Path) -> None:
    """And never refused there: a check does not change the cache."""
    with serving(file(ROWS.encode())) as site:
        text = recipe(f'path = "{site.url}/a.csv"', f'path = "{site.url}/b.csv"')
        cache = tmp_path / "cache"
        report = checked(tmp_path, {}, text, cache=cache)
        assert [source.is_missing for source in report.sources] == [True, True]
        build_at(tmp_path, {}, recipe(f'path = "{site.url}/a.csv"'), cache=cache)
        before = {path: path.stat().st_mtime_ns for path in cache.rglob("*")}
        report = checked(
            tmp_path, {}, text.replace("[[source]]", "[[source]]\nmin_rows = 2"), cache=cache
        )
    assert {path: path.stat().st_mtime_ns for path in cache.rglob("*")} == before
    assert [source.is_missing for source in report.sources] == [False, True]
    assert "min_rows is 2" in report.sources[0].problem
    *_, count, download = report.lines()
    assert count == "1 problem: build would fail"
    words = map(str, ["geolookup", "download", tmp_path / "recipe.toml", "--cache", cache])
    command = shlex.join(words)
    assert download == f"not in the cache: 1; to fetch: {command}"


def test_the_next_command_has_the_options_of_the_check(tmp_path: Path) -> None:
    data = tmp_path / "my rows.csv"
    data.write_text(ROWS.replace("10.0.0.0/8", "8.8.9.0/33"), encoding="utf-8")
    good = run("check", str(data), "--max-rejects", "1", "--cache", str(tmp_path))
    _, command = good.stdout.rstrip("\n").split("; to build it: geolookup ")
    words = shlex.split(command.replace(" DIR", f" {shlex.quote(str(tmp_path / 'data'))}"))
    assert words[2:] == ["-o", words[3], "--max-rejects", "1", "--cache", str(tmp_path)]
    assert run(*words).returncode == 0
    report = json.loads(run("check", str(data), "--json", "--cache", str(tmp_path)).stdout)
    limits = {"max_rejects": None, "cache": str(tmp_path), "max_memory": None}
    assert report["limits"] == limits
