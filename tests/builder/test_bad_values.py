"""Bad values null their layer and are counted; the row still decides."""

from __future__ import annotations

from pathlib import Path

import pytest
from geolookup_builder.report import BuildReport

from tests.builder.building import known, recipe
from tests.conftest import Build, build_at

#: Field, its good cells with their values (None: unknown), its bad cells.
FIELDS: list[tuple[str, dict[str, object], list[str]]] = [
    ("country_code", {"US": "US", "SE": "SE"}, ["QQ", "USA", "U S", "Sweden", "-"]),
    ("continent_code", {"EU": "EU", "NA": "NA"}, ["XX", "Europe"]),
    ("latitude", {"1": 1, "+1.50": 1.5, ".5": 0.5, "5.": 5, "-90": -90, "-0.0": 0, "1e-7": 1e-7},
     ["90.000001", "-91", "1e3", "1e999", "nan", "inf", "0x1", "1,5", "1 5", "north", "1_0", "٣"]),
    ("longitude", {"180": 180, "-180.0": -180, "151.2093": 151.2093}, ["180.1", "W5", "--1", "."]),
    ("time_zone", {"Europe/Berlin": None}, ["Europe/Berlinn", "+01:00", "../etc/passwd", "Asia"]),
    ("asn", {"1": 1, "AS2": 2, "as3": 3, "0": None, "AS0": None, "4294967295": 4294967295},
     ["4294967296", "99999999999", "AS", "1.0", "AS 5", "-1", "1e3", "٣"]),
    ("connection_type", {"Mobile": "Mobile", "Cable/DSL": "Residential"}, ["Pigeon", "1"]),
    ("user_type", {"hosting": "hosting", "RSV": None}, ["robot", "1"]),
]  # fmt: skip
LOCATED = ("country_code", "continent_code", "latitude", "longitude", "time_zone")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, BuildReport]:
    """A row for each cell, in its own column; the others of its row are empty."""
    listed = [(field, cell) for field, good, bad in FIELDS for cell in [*good, *bad]]
    names = [field for field, _, _ in FIELDS]
    text = f"network,city_name,organization,{','.join(names)}\n"
    for number, (field, cell) in enumerate(listed):
        cells = [f'"{cell}"' if name == field else "" for name in names]
        text += f"8.8.{number}.0/24,Here,Firm,{','.join(cells)}\n"
    return build_at(tmp_path_factory.mktemp("cells"), {"a.csv": text})


def test_bad_values_null_their_layer_alone(built: tuple[Path, BuildReport]) -> None:
    dataset, report = built
    (source,) = report.sources
    assert source.nulled == {field: len(bad) for field, _, bad in FIELDS}
    assert source.rejected == {}
    count = sum(len(good) + len(bad) for _, good, bad in FIELDS)
    rows = iter(known(dataset, *(f"8.8.{number}.8" for number in range(count))))
    for field, good, bad in FIELDS:
        for cell, value in good.items():
            row = next(rows)
            assert (row.get(field), type(row.get(field))) == (value, type(value)), (field, cell)
            assert (row["city_name"], row["organization"]) == ("Here", "Firm"), (field, cell)
        beside = {} if field in LOCATED else {"city_name": "Here"}
        for cell in bad:
            assert next(rows) == {**beside, "organization": "Firm"}, (field, cell)


WIDE = "8.8.0.0/16,SE,1\n"


def test_no_wider_row_shows_through(build: Build) -> None:
    text = f"network,country_code,asn\n{WIDE}8.8.8.0/24,QQ,2\n8.8.9.0/24,,\n"
    output, _ = build({"a.csv": text})
    assert known(output, "8.8.8.8", "8.8.9.9") == [{"asn": 2}, {}]
    assert known(output, "8.8.1.1")[0]["country_code"] == "SE"


def test_the_next_source_shows_through(build: Build) -> None:
    files: dict[str, str | bytes] = {
        "a.csv": "network,country_code,latitude\n8.8.8.0/24,US,91\n",
        "b.csv": f"network,country_code,asn\n{WIDE}",
    }
    output, _ = build(files)
    (found,) = known(output, "8.8.8.8")
    assert (found["country_code"], found.get("latitude"), found["asn"]) == ("SE", None, 1)


def test_counts_are_of_accepted_rows_and_kept_fields(build: Build) -> None:
    text = "network,country_code,asn\n8.8.8.0/24,QQ,x\n8.8.9.0/24,QQ,1\nnowhere,QQ,x\n"
    _, report = build({"a.csv": text})
    assert report.sources[0].nulled == {"country_code": 2, "asn": 1}
    output, report = build({"a.csv": text}, recipe('path = "a.csv"\nprovides = ["asn"]'))
    assert report.sources[0].nulled == {"asn": 1}
    assert known(output, "8.8.8.8", "8.8.9.9") == [{}, {"asn": 1}]
