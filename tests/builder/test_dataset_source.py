"""A dataset as a source of a recipe: its forms, its sources in the manifest, its refusals."""

from __future__ import annotations

from pathlib import Path

import pytest
from geolookup_builder.build_report import BuildReport

import geolookup
from geolookup.dataset import layout as fmt
from tests.builder.building import fails, known
from tests.cli.program import run
from tests.conftest import build_at

CITY = "network,country_code,city_name\n8.8.8.0/24,US,Berkeley\n9.9.9.0/24,DE,Berlin\n"
ASN = "network,asn,asn_organization\n8.8.8.0/24,15169,GOOGLE\n1.1.1.0/24,13335,CLOUDFLARENET\n"
SITES = "network,city_name,country_code\n8.8.8.8,Site,US\n"
BASE = """
[dataset]
name = "acme-geo"
[[source]]
format = "csv"
path = "city.csv"
name = "City"
date = "2026-10-01"
licence = "CC-BY-4.0"
attribution = "City by Acme"
[[source]]
format = "csv"
path = "asn.csv"
name = "ASN"
date = "2026-09-01"
"""
OVER = """
[dataset]
name = "over"
[[source]]
format = "csv"
path = "sites.csv"
[[source]]
format = "dataset"
path = "{}"
"""


@pytest.fixture
def base(tmp_path: Path) -> Path:
    folder = tmp_path / "base"
    folder.mkdir()
    return build_at(folder, {"city.csv": CITY, "asn.csv": ASN}, BASE)[0]


def over(
    folder: Path, path: Path | str, sites: str = SITES, more: str = "", **options: object
) -> tuple[Path, BuildReport]:
    return build_at(folder, {"sites.csv": sites}, OVER.format(path) + more, **options)


def test_the_sources_behind_a_dataset_have_its_place(tmp_path: Path, base: Path) -> None:
    dataset, report = over(tmp_path, base)
    assert known(dataset, "8.8.8.8", "8.8.8.9", "1.1.1.1")[1]["city_name"] == "Berkeley"
    with geolookup.open(dataset) as engine:
        sites, city, asn = engine.metadata.sources
        assert (sites.name, sites.dataset) == ("sites.csv", None)
        assert (city.name, city.dataset, city.rows) == ("City", "acme-geo", 2)
        assert (city.date, city.licence, city.attribution) == (
            *("2026-10-01", "CC-BY-4.0"),
            "City by Acme",
        )
        assert city.coverage == {"location": {"ipv4": 511, "ipv6": 0}}
        assert asn.coverage == {"asn": {"ipv4": 512, "ipv6": 0}}
        assert engine.metadata.age.source == "ASN"
        layers = engine.explain("8.8.8.9")["layers"]
        assert (layers["location"]["source"], layers["location"]["dataset"]) == ("City", "acme-geo")
        assert "dataset" not in engine.explain("8.8.8.8")["layers"]["location"]
        names = [credit["name"] for credit in engine.metadata.credits]
        assert len(names) == len(set(names))
    assert "dataset of generation" in "\n".join(report.lines())


def test_commands_name_the_dataset(tmp_path: Path, base: Path) -> None:
    dataset, _ = over(tmp_path, base)
    assert "City, by way of dataset acme-geo (csv), 2026-10-01" in run("info", str(dataset)).stdout
    explained = run("explain", "8.8.8.9", "--dataset", str(dataset)).stdout
    assert "City, by way of dataset acme-geo, 2026-10-01, CC-BY-4.0" in explained


def test_a_source_that_decides_nothing_is_dropped_and_counted(tmp_path: Path, base: Path) -> None:
    everything = "network,asn\n0.0.0.0/0,1\n"
    dataset, report = over(tmp_path, base, everything)
    with geolookup.open(dataset) as engine:
        assert [source.name for source in engine.metadata.sources] == ["sites.csv", "City"]
    text = "\n".join(report.lines())
    assert "2 sources, 1 of them without an address here" in text
    geolookup.verify(dataset, deep=True)


def test_stores_archives_and_the_bundled_dataset(tmp_path: Path, base: Path) -> None:
    store, archive = tmp_path / "store", tmp_path / "acme.tar.zst"
    geolookup.publish(base, store)
    geolookup.pack(base, archive)
    expected = over(tmp_path, base)[1].generation
    assert over(tmp_path, store)[1].generation == expected
    assert over(tmp_path, archive)[1].generation == expected
    bundled, _ = over(tmp_path, "bundled")
    with geolookup.open("bundled") as engine, geolookup.open(bundled) as built:
        assert built.lookup("1.1.1.1", at=0) == engine.lookup("1.1.1.1", at=0)


def test_a_dataset_may_be_the_only_source(tmp_path: Path, base: Path) -> None:
    """Its answers stay; the format is detected."""
    from geolookup_builder.calls import build

    build(base, tmp_path / "copy")
    recipe = '[dataset]\nname = "nested"\n[[source]]\nformat = "auto"\npath = "copy"\n'
    nested, _ = build_at(tmp_path, {}, recipe)
    addresses = ("8.8.8.8", "9.9.9.9", "1.1.1.1", "2.2.2.2")
    assert known(nested, *addresses) == known(base, *addresses)
    with geolookup.open(nested) as engine:
        assert {source.dataset for source in engine.metadata.sources} == {"dataset"}


def test_fields_of_a_dataset(tmp_path: Path, base: Path) -> None:
    dataset, _ = over(tmp_path, base, more="fields = ['country_code']\n")
    (answer,) = known(dataset, "8.8.8.9")
    assert answer["country_code"] == "US"
    assert "city_name" not in answer
    assert "asn" not in answer


def test_demands_on_rows(tmp_path: Path, base: Path) -> None:
    """``min_rows`` counts its intervals, ``max_drop`` the rows of the sources behind it."""
    files: dict[str, str | bytes] = {"sites.csv": SITES}
    error = fails(tmp_path, files, OVER.format(base) + "min_rows = 9\n")
    assert "3 usable rows" in error.problem
    previous, _ = over(tmp_path, base)
    previous = previous.rename(tmp_path / "previous")
    _, report = over(tmp_path, base, more='max_drop = "0%"\n', previous=previous)
    assert not [text for text in report.warnings if "max_drop" in text]
    (tmp_path / "base" / "asn.csv").write_text(ASN[: ASN.rindex("1.1.1.0")], encoding="utf-8")
    build_at(tmp_path / "base", {}, BASE)
    error = fails(tmp_path, files, OVER.format(base) + 'max_drop = "0%"\n', previous=previous)
    assert error.problem.startswith("acme-geo has 3 usable rows, 4 before")


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ("date = '2026-01-01'\n", "source.date belongs to the sources behind a dataset"),
        ("columns = { a = 'b' }\n", "unknown key source.columns"),
    ],
)
def test_refused_keys(tmp_path: Path, base: Path, more: str, problem: str) -> None:
    assert problem in fails(tmp_path, {"sites.csv": SITES}, OVER.format(base) + more).problem


def test_rows_of_sources_are_refused(tmp_path: Path, base: Path) -> None:
    text = OVER.format(base).replace('"over"', '"over"\nexplain = "full"')
    error = fails(tmp_path, {"sites.csv": SITES}, text)
    assert "needs rows of files, but dataset is a dataset" in error.problem


@pytest.mark.parametrize("name", [fmt.LOCATION, fmt.IPV4, fmt.PROVENANCE[4], fmt.MANIFEST])
def test_a_damaged_dataset_is_refused(tmp_path: Path, base: Path, name: str) -> None:
    path = base / name
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    error = fails(tmp_path, {"sites.csv": SITES}, OVER.format(base))
    assert not (tmp_path / "dataset").exists()
    assert error.path.startswith(str(base))


def test_a_missing_dataset_is_refused(tmp_path: Path) -> None:
    error = fails(tmp_path, {"sites.csv": SITES}, OVER.format("nowhere"))
    assert "no dataset here" in error.problem


def test_check_reads_a_dataset(tmp_path: Path, base: Path) -> None:
    over(tmp_path, base)
    report = geolookup.check(tmp_path / "recipe.toml")
    assert not report.has_problem
    assert "country_code" in "\n".join(report.lines())


def test_update_reads_a_dataset(tmp_path: Path, base: Path) -> None:
    over(tmp_path, base)
    store = tmp_path / "store"
    geolookup.update(tmp_path / "recipe.toml", store=store)
    (tmp_path / "bundled.toml").write_text(OVER.format("bundled"), encoding="utf-8")
    geolookup.update(tmp_path / "bundled.toml", store=store)
    with geolookup.open(store) as engine:
        assert len(engine.metadata.sources) > 1


def test_more_sources_than_a_dataset_may_have(tmp_path: Path, base: Path) -> None:
    rows: dict[str, str | bytes] = {
        f"{n}.csv": f"network,asn\n8.8.{n}.0/24,{n + 1}\n" for n in range(253)
    }
    tables = "".join(f'[[source]]\nformat = "csv"\npath = "{name}"\n' for name in rows)
    tables += f'[[source]]\nformat = "dataset"\npath = "{base}"\n'
    error = fails(tmp_path, rows, f'[dataset]\nname = "x"\n{tables}')
    assert error.problem.startswith("255 sources with those behind datasets")


COLUMNS = """
[columns]
site_id = { type = "text", private = true }
risk = "integer"
tags = "texts"
is_vpn = { type = "boolean", group = "threat" }
vpn_name = { type = "text", group = "threat" }
"""
OWN = (
    "network,country_code,site,risk,tags,is_vpn,vpn\n"
    "10.0.0.0/8,,hq,1,a;b,true,One\n8.8.8.0/24,US,dc,2,b,,\n9.0.0.0/8,DE,,3,,false,Two\n"
)
#: Each row states other columns; the one above a whole range of the base has no own column.
SITES_OWN = (
    "network,country_code,site,risk,tags,is_vpn,vpn\n"
    "10.1.0.0/16,,branch,,,,\n8.8.8.8,CH,,9,c,,\n9.9.0.0/16,,x,,b,true,\n9.8.0.0/16,FR,,,,,\n"
)
MAPPING = (
    "columns = { network = 'network', country_code = 'country_code', site_id = 'site',"
    " risk = 'risk', tags = 'tags', is_vpn = 'is_vpn', vpn_name = 'vpn' }\n"
)
PROBES = ("8.8.8.8", "8.8.8.9", "9.9.9.9", "9.8.1.1", "9.1.1.1", "10.1.2.3", "10.2.3.4", "1.1.1.1")


def _answers(dataset: Path) -> list[object]:
    with geolookup.open(dataset) as engine:
        return [(engine.get(ip, ("own", "country_code")), engine.own(ip)) for ip in PROBES]


PLAIN = "network,country_code\n8.8.8.0/24,US\n9.0.0.0/8,DE\n"
PLAIN_SITES = "network,country_code\n8.8.8.8,CH\n9.8.0.0/16,FR\n"


@pytest.mark.parametrize("columns_of", ["base", "sites", "both"])
@pytest.mark.parametrize("is_last", [True, False])
def test_own_columns_equal_a_build_from_files(
    tmp_path: Path, columns_of: str, is_last: bool
) -> None:
    """Own columns of the dataset, of the source above, and of both; spliced and overlaid."""
    files: dict[str, str | bytes] = {
        "own.csv": OWN,
        "sites.csv": SITES_OWN,
        "plain.csv": PLAIN,
        "plain_sites.csv": PLAIN_SITES,
        "city.csv": CITY,
    }
    head, table = '[dataset]\nname = "x"\n', "[[source]]\nformat = 'csv'\npath = '{}.csv'\n"
    sites = table.format("sites") + MAPPING if columns_of != "base" else table.format("plain_sites")
    base = table.format("own") + MAPPING if columns_of != "sites" else table.format("plain")
    below = "" if is_last else table.format("city")
    whole = build_at(tmp_path, files, head + COLUMNS + sites + base + below)[0]
    whole = whole.rename(tmp_path / "whole")
    behind = build_at(tmp_path, {}, head + (COLUMNS if columns_of != "sites" else "") + base)[0]
    behind.rename(tmp_path / "behind")
    dataset = "[[source]]\nformat = 'dataset'\npath = 'behind'\n"
    columns = COLUMNS if columns_of != "base" else ""
    joint = build_at(tmp_path, {}, head + columns + sites + dataset + below)[0]
    geolookup.verify(joint, deep=True)
    assert _answers(joint) == _answers(whole)


def test_own_columns_that_differ_are_refused(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"own.csv": OWN}
    source = f"[[source]]\nformat = 'csv'\npath = 'own.csv'\n{MAPPING}"
    behind, _ = build_at(tmp_path, files, '[dataset]\nname = "x"\n' + COLUMNS + source)
    behind = behind.rename(tmp_path / "behind")
    columns = COLUMNS.replace('risk = "integer"', 'risk = "real"')
    dataset = "[[source]]\nformat = 'dataset'\npath = 'behind'\n"
    text = f"[dataset]\nname = 'y'\n{columns}{source}{dataset}"
    error = fails(tmp_path, {}, text)
    assert "own.risk has another type, group or private in x" in error.problem


def test_datasets_of_datasets_without_an_answer(tmp_path: Path) -> None:
    """A source behind that decides nothing has no place: the third dataset has no source at all."""
    empty = "network,city_name,country_code\n"
    dataset, _ = build_at(tmp_path, {"empty.csv": empty})
    for number in range(3):
        folder = tmp_path / str(number)
        folder.mkdir()
        recipe = f'[dataset]\nname = "d"\n[[source]]\nformat = "dataset"\npath = "{dataset}"\n'
        dataset, _ = build_at(folder, {}, recipe)
    geolookup.verify(dataset, deep=True)
    with geolookup.open(dataset) as engine:
        assert not engine.metadata.sources
        assert not any(engine.explain("8.8.8.8")["layers"].values())
    assert run("info", str(dataset)).returncode == 0
