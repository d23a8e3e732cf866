"""A check finds what ends a build, goes on with the next source, and changes nothing."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

import geolookup
from tests.builder.building import fails, recipe
from tests.conftest import build_at
from tests.internals.builder import Options, RecipeCheck, SourceCheck, check_recipe
from tests.internals.dataset import size_lines
from tests.internals.progress import Progress

ROWS = "network,country_code,city_name\n8.8.8.0/24,DE,Berlin\n10.0.0.0/8,DE,Bonn\n"


def checked(folder: Path, files: dict[str, str], text: str, **limits: int | Path) -> RecipeCheck:
    for name, content in files.items():
        (folder / name).write_text(content, encoding="utf-8")
    return check_recipe(write_recipe(folder, text), Options(**limits), Progress(silent=True))  # type: ignore[arg-type]


def write_recipe(folder: Path, text: str) -> Path:
    (folder / "recipe.toml").write_text(text, encoding="utf-8")
    return folder / "recipe.toml"


def source_of(report: RecipeCheck) -> SourceCheck:
    (source,) = report.sources
    return source


def test_files_format_fields_and_rows(tmp_path: Path) -> None:
    text = '[dataset]\nname = "d"\n[[source]]\nformat = "auto"\npath = "?.csv"\n'
    report = checked(tmp_path, {"a.csv": ROWS, "b.csv": ROWS}, text + 'fields = ["country_code"]\n')
    assert not report.has_problem
    path = shlex.quote(str(tmp_path / "recipe.toml"))
    assert [line for line in report.lines() if not line.startswith("memory ")] == [
        "?.csv",
        f"  files       a.csv ({len(ROWS)} bytes), b.csv ({len(ROWS)} bytes)",
        "  format      csv, detected: columns network, country_code, city_name",
        "  fields      country_code",
        "  rows        4 rows read, 1 used",
        "  not kept    city_name (fields of the recipe)",
        "  duplicate   2 rows with the range of a later row",
        "  clipped     2 rows, 33,554,432 addresses in special-purpose space",
        "dataset 3 ipv4 intervals, 1 ipv6 interval, 1 location, 0 networks, 1 country, 0 zones",
        "  coverage    256 addresses of IPv4: location",
        next(size_lines(report.files)),
        f"no problem; to build it: geolookup build {path} -o DIR",
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "b.csv", "recipe.toml"]


PROBLEMS: dict[str, tuple[dict[str, str], str]] = {
    "no file": ({}, 'path = "a.csv"'),
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
    error = fails(tmp_path, {**files}, recipe(source), max_rejected=None, empty="")
    assert report.sources[0].problem == str(error)
    # The next source is checked in any case; its file came later.
    assert "no such file" in report.sources[1].problem


def test_a_source_that_decides_nothing(tmp_path: Path) -> None:
    text = recipe('path = "a.csv"', 'path = "b.csv"\nmin_decided = 1')
    report = checked(tmp_path, {"a.csv": ROWS, "b.csv": ROWS}, text)
    assert [demand.is_met for demand in report.quality] == [False]
    assert report.is_refused


def test_problems_of_the_recipe_itself(tmp_path: Path) -> None:
    text = recipe('path = "a.csv"') + '[tables]\ncountries = "none.csv"\n'
    report = checked(tmp_path, {"a.csv": ROWS}, text)
    assert ["none.csv" in problem for problem in report.problems] == [True]
    report = checked(tmp_path, {}, recipe('path = "a.csv"').replace('"test"', "5"))
    assert [*report.lines()][-1] == "1 problem: build would fail"
    assert "dataset.name is not a text" in report.problems[0]


QUALITY = """[quality]
expect = [["8.8.8.8", "country", "DE"], ["8.8.8.8", "city", "Bonn"]]
min_coverage = { country = "99%" }
[update]
fail_if = ["country_moved > 2%"]
"""


def test_what_quality_and_an_earlier_dataset_say(tmp_path: Path) -> None:
    """A check leaves nothing behind, and says what a build and an update would refuse."""
    (tmp_path / "old").mkdir()
    before = ROWS + "8.8.9.0/24,DE,Essen\n9.9.9.0/24,DE,\n"
    old, _ = build_at(tmp_path / "old", {"a.csv": before})
    geolookup.publish(old, tmp_path / "store")
    source = 'path = "a.csv"\nmax_drop = "90%"'
    report = checked(tmp_path, {"a.csv": ROWS.replace("DE", "AT")}, recipe(source) + QUALITY)
    assert [demand.is_met for demand in report.quality] == [False, False, False]
    assert not report.has_problem
    assert report.is_refused
    shown = "\n".join(report.lines())
    assert (
        'quality     not met: expect ["8.8.8.8", "country", "DE"], found "AT" at 8.8.8.8' in shown
    )
    assert shown.endswith("3 demands of [quality] not met: build would fail")
    text = recipe(source) + QUALITY[QUALITY.index("[update]") :]
    for against in (old, tmp_path / "store"):
        report = check_recipe(
            write_recipe(tmp_path, text), Options(), Progress(silent=True), against
        )
        assert report.against is not None
        lines = [*report.lines()]
        at = next(at for at, line in enumerate(lines) if line.startswith("against "))
        assert (
            "ipv4.country_moved 100 %, ipv4.city_moved 100 %, ipv4.coverage_lost 66.6667 %"
            in lines[at + 1]
        )
        assert lines[at + 2 : at + 4] == [
            "  gates       0 of 1 hold",
            "  gate failed: country_moved > 2%: ipv4.country_moved is 100 %, the limit is 2 %",
        ]
        assert report.is_refused
    too_few = text.replace("90%", "20%")
    report = check_recipe(write_recipe(tmp_path, too_few), Options(), Progress(silent=True), old)
    assert "of a.csv: found 1 usable row, 3 before" in source_of(report).problem
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        *("a.csv", "old", "recipe.toml", "store"),
    ]


def test_the_sizes_are_those_of_the_dataset(tmp_path: Path) -> None:
    report = checked(tmp_path, {"a.csv": ROWS}, recipe('path = "a.csv"'))
    dataset, built = build_at(tmp_path, {"a.csv": ROWS}, recipe('path = "a.csv"'))
    files = {path.name: path.stat().st_size for path in dataset.glob("*.arrow")}
    assert report.files == files
    assert (report.counts, report.coverage) == (built.counts, built.coverage)
    assert report.memory > 50 << 20


#: Files that no format reads as they are, and the options that read them.
FOREIGN = {
    "network;country_code;city_name\n8.8.8.0/24;DE;Berlin\n": 'delimiter = ";"',
    "von|bis|land|breite|laenge\n8.8.8.0|8.8.8.255|DE|52.5|13.4\n": (
        'delimiter = "|"\ncolumns = { first = "von", last = "bis",'
        ' country_code = "land", latitude = "breite", longitude = "laenge" }'
    ),
    "id,lo,hi,cc,town,tz\nx,134744064,134744319,DE,Berlin,Europe/Berlin\n": "",
    "8.8.8.0/24;DE;Berlin\n8.8.9.0/24;DE;Berlin\n": (
        'delimiter = ";"\nheader = false\ncolumns = { network = 1, country_code = 2 }'
    ),
    "ip\tmask\tland\n8.8.8.0\t255.255.255.0\tDE\n": (
        'delimiter = "\\t"\n'
        'columns = { network = "ip", netmask = "mask", country_code = "land" }'
    ),
    "IP,Country Code\n8.8.8.0/24,DE\n": (
        'columns = { network = "IP", country_code = "Country Code" }'
    ),
    "cidr;isp;land;breite;laenge\n8.8.8.0/24;x;DE;52.5;13.4\n": (
        'delimiter = ";"\ncolumns = { network = "cidr", isp = "isp",'
        ' country_code = "land", latitude = "breite", longitude = "laenge" }'
    ),
}  # fmt: skip


@pytest.mark.parametrize("text", FOREIGN)
def test_the_proposed_recipe_reads_the_file(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.csv").write_text(text, encoding="utf-8")
    report = check_recipe(tmp_path / "a.csv", Options(), Progress(silent=True))
    assert report.has_problem
    proposed = "\n".join(report.lines()).partition("A recipe to write, such as ")[2]
    head, _, proposed = proposed.partition(":\n\n")
    if not FOREIGN[text]:
        assert not proposed
        return
    assert head == str(tmp_path / "a.toml")
    assert "did you mean" not in source_of(report).problem  # the recipe answers that
    assert proposed.endswith(f'format = "csv"\npath = "a.csv"\n{FOREIGN[text]}')
    assert not checked(tmp_path, {}, proposed).has_problem
    dataset, _ = build_at(tmp_path, {}, proposed, max_rejected=None, empty="")
    with geolookup.open(dataset) as engine:
        assert engine.get("8.8.8.8", "country") == "DE"


def test_columns_are_declared_if_a_file_has_no_field(tmp_path: Path) -> None:
    rows = "prefix,site,Customer\n8.8.8.0/24,Zug,Acme\n10.1.0.0/16,Office,Acme\n"
    (tmp_path / "a.csv").write_text(rows, encoding="utf-8")
    report = check_recipe(tmp_path / "a.csv", Options(), Progress(silent=True))
    proposed = "\n".join(report.lines()).partition("A recipe to write, such as ")[2]
    dataset, _ = build_at(tmp_path, {}, proposed.partition(":\n\n")[2])
    with geolookup.open(dataset) as engine:
        assert engine.own("8.8.8.8") == {"site": "Zug"}
        assert engine.own("10.1.2.3") == {"site": "Office"}


def test_a_problem_of_detection_and_of_the_rows_is_named_once(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("network,latitude\n8.8.8.0/24,5\n", encoding="utf-8")
    report = check_recipe(tmp_path / "a.csv", Options(), Progress(silent=True))
    assert source_of(report).problem.count("latitude without longitude") == 1


def test_nested_keys_are_proposed(tmp_path: Path) -> None:
    keys = '{"net": {"cidr": "8.8.8.0/24"}, "geo": {"country": {"iso_code": "DE"}}}\n'
    (tmp_path / "a.jsonl").write_text(keys, encoding="utf-8")
    report = check_recipe(tmp_path / "a.jsonl", Options(), Progress(silent=True))
    assert source_of(report).suggested == {
        "columns": {"network": "net.cidr", "country_code": "geo.country.iso_code"}
    }
    assert source_of(report).tables[0].used == 1


#: Files with cells that the generic CSV reads as texts, and the option that reads them.
CELLS = {
    "Start IP;End IP;Country;Region;Town;Lat;Lon\n8.8.8.0;8.8.8.255;DE;BE;-;52,52;13,4\n"
    "8.8.9.0;8.8.9.255;DE;NULL;\\N;N/A;N/A\n": (
        'delimiter = ";"\ncolumns = { first = "Start IP", last = "End IP",'
        ' country_code = "Country", region_code = "Region", city_name = "Town",'
        ' latitude = "Lat", longitude = "Lon" }\n'
        r'cells = { empty = ["-", "N/A", "NULL", "\\N"], decimal = "," }'
    ),
    "network,country,city\n8.8.8.0/24,DE,-\n": 'cells = { empty = ["-"] }',
    "network,country,city\n8.8.8.0/24,DE,A-B\n": "",
    'network,country,lat,lon\n8.8.8.0/24,DE,"52,5","13,4"\n': 'cells = { decimal = "," }',
}


@pytest.mark.parametrize("text", CELLS)
def test_cells_are_proposed_as_the_sample_has_them(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.csv").write_text(text, encoding="utf-8")
    report = check_recipe(tmp_path / "a.csv", Options(), Progress(silent=True))
    proposed = "\n".join(report.lines()).partition("A recipe to write, such as ")[2]
    assert proposed.partition('path = "a.csv"\n')[2] == CELLS[text]
    if CELLS[text]:
        report = checked(tmp_path, {}, proposed.partition(":\n\n")[2])
        assert not report.has_problem
        assert not source_of(report).suggested


def test_a_recipe_is_told_of_cells(tmp_path: Path) -> None:
    """Its own rows are counted as a build of it would."""
    rows = "network,country,city\n8.8.8.0/24,DE,-\n8.8.9.0/24,DE,Berlin\n"
    report = checked(tmp_path, {"a.csv": rows}, recipe('path = "a.csv"'))
    assert not source_of(report).tables[0].emptied
    assert '  add         cells = { empty = ["-"] }' in [*report.lines()]
    told = recipe('path = "a.csv"\n[source.cells]\nempty = ["?"]')
    assert not source_of(checked(tmp_path, {}, told)).suggested


def test_a_source_to_download(tmp_path: Path) -> None:
    text = recipe('path = "https://example.com/a.csv"', 'path = "b.csv"')
    report = checked(tmp_path, {"b.csv": ROWS}, text, cache=tmp_path / "cache")
    missing, local = report.sources
    assert missing.is_missing
    assert local.tables[0].used == 1
    assert [*report.lines()][-1].startswith("not in the cache: 1; to fetch: geolookup update ")
    assert not (tmp_path / "cache").exists()


# --- ``only``, ``families`` and ``within``

NETWORKS = (
    "network,country_code,isp\n8.8.0.0/16,DE,a\n8.9.0.0/16,AT,b\n8.10.0.0/16,US,c\n"
    "2a00::/32,DE,d\n2a01::/32,,e\n"
)
#: Keys of a source, and the error of a build.
MALFORMED = [
    ("only = 'land=DE'", "source.only: no field 'land'"),
    ("only = 'country'", "source.only: a condition has a field, an operator and a value"),
    ("only = 'country=ZZ'", "source.only: 'ZZ' is not an ISO 3166 code of two letters"),
    ("only = 'country=Germany'", "did you mean 'DE'?"),
    ("only = 'asn=x'", "source.only: 'x' is not a network.asn"),
    ("only = 5", "source.only: a condition is a text or a mapping, not int"),
    ("only = ''", "source.only is empty"),
    ("only = { not = { not = 'country=DE' } }", 'source.only: "not" cannot contain "not"'),
    ("only = 'isp=a'\nfields = ['country']", "names network.isp, but source.fields drops it"),
    ("only = 'country=FR'", "meets only, families and within"),
    ("families = [true]", "source.families is not a list of 4 and 6"),
    ("families = []", "source.families is not a list of 4 and 6"),
    ("within = '8.8.8.8/8'", "source.within: '8.8.8.8/8' is not a network without host bits"),
    ("within = []", "source.within is empty"),
    ("whithin = '8.0.0.0/8'", "did you mean 'within'?"),
]


@pytest.mark.parametrize(("keys", "message"), MALFORMED)
def test_a_malformed_value_is_one_line(keys: str, message: str, tmp_path: Path) -> None:
    error = fails(tmp_path, {"a.csv": NETWORKS}, recipe(f"path = 'a.csv'\n{keys}"), empty="")
    assert message in str(error)
    assert "\n" not in str(error)
    assert not (tmp_path / "dataset").exists()
    report = geolookup.check(tmp_path / "recipe.toml")
    (problem,) = [*report.problems, *(item.problem for item in report.sources if item.problem)]
    assert message in problem.replace(f"{tmp_path}/", "")
