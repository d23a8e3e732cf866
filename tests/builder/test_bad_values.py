"""Bad values null their layer and are counted; vendors' words are those of the contract."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from geolookup_builder import schema
from geolookup_builder.report import BuildReport
from geolookup_builder.sources.reading import delimited
from geolookup_builder.vocabulary import CONNECTION_TYPES, USER_TYPES, VOCABULARY, translated

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


def test_the_next_source_shows_through_but_no_wider_row(build: Build) -> None:
    text = f"network,country_code,asn\n{WIDE}8.8.8.0/24,QQ,2\n8.8.9.0/24,,\n"
    output, _ = build({"a.csv": text})
    assert known(output, "8.8.8.8", "8.8.9.9") == [{"asn": 2}, {}]
    assert known(output, "8.8.1.1")[0]["country_code"] == "SE"
    files: dict[str, str | bytes] = {
        "a.csv": "network,country_code,latitude\n8.8.8.0/24,US,91\n",
        "b.csv": f"network,country_code,asn\n{WIDE}",
    }
    output, _ = build(files)
    (found,) = known(output, "8.8.8.8")
    assert (found["country_code"], found.get("latitude"), found["asn"]) == ("SE", None, 1)


def test_counts_and_unknown_words(build: Build) -> None:
    text = "network,country_code,asn\n8.8.8.0/24,QQ,x\n8.8.9.0/24,QQ,1\nnowhere,QQ,x\n"
    _, report = build({"a.csv": text})
    assert report.sources[0].nulled == {"country_code": 2, "asn": 1}
    output, report = build({"a.csv": text}, recipe('path = "a.csv"\nprovides = ["asn"]'))
    assert report.sources[0].nulled == {"asn": 1}
    assert known(output, "8.8.8.8", "8.8.9.9") == [{}, {"asn": 1}]
    rows = "".join(f"8.{at >> 8}.{at & 255}.0/24,word {at}\n" for at in range(5000))
    _, report = build({"a.csv": f"network,user_type\n{rows}"})
    assert report.sources[0].nulled == {"user_type": 5000}
    assert len(report.sources[0].unknown_words["user_type"]) == 100


CONNECTIONS: dict[str | None, str] = {
    "Residential": "Cable/DSL CABLE/dsl dsl DSL cable fttx",
    "Mobile": "Cellular wireless Mobile",
    "Corporate": "Corporate COMP T1",
    "Satellite": "Satellite SAT",
    "Dialup": "Dialup DIAL isdn",
}
USERS = {
    "residential": "residential ISP isp consumer ISP/MOB RSV/ISP",
    "business": "business COM ORG corporate COM/ISP",
    "hosting": "hosting DCH DCH/CDN",
    "college": "college EDU education",
    "government": "government GOV",
    "military": "military MIL",
    "library": "library LIB",
    "content_delivery_network": "content_delivery_network CDN",
    "cellular": "cellular MOB MOB/ISP",
    "search_engine_spider": "search_engine_spider SES",
    None: "RSV rsv RSV/RSV",
}


def test_words_of_vendors() -> None:
    for words, kinds in ((CONNECTION_TYPES, CONNECTIONS), (USER_TYPES, USERS)):
        for kind, listed in kinds.items():
            cells = listed.split()
            values, understood = translated(pa.array(cells), words)
            assert values.to_pylist() == [kind] * len(cells)
            assert understood.to_pylist() == [True] * len(cells)
    unknown = ["pigeon", "/", "ISP/", "ISP/pigeon", "", "I S P", "none", None]
    values, understood = translated(pa.array(unknown), USER_TYPES)
    assert values.to_pylist() == [None] * len(unknown)
    assert understood.to_pylist() == [False] * len(unknown)
    of_contract = (schema.CONNECTION_TYPES, schema.USER_TYPES)
    for words, types in zip((CONNECTION_TYPES, USER_TYPES), of_contract, strict=True):
        assert all(words[each.lower()] == each for each in types)
        assert set(words.values()) - {None} == set(types)
        assert all(word == word.lower().strip() for word in words)
    assert set(VOCABULARY) == {"connection_type", "user_type"} <= set(schema.LAYERS)


def test_the_summary_names_the_commonest_unknown_words(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delimited, "BLOCK_BYTES", 120)  # several batches
    cells = ["owl"] * 3 + ["dsl"] * 2 + ["pigeon"] * 5 + ["x" * 60, "", "a", "b", "c", "d"]
    rows = "".join(f"8.8.{at}.0/24,{cell},DCH\n" for at, cell in enumerate(cells))
    text = f"network,connection_type,user_type\n{rows}nowhere,pigeon,robot\n"
    output, report = build({"a.csv": text})
    (source,) = report.sources
    assert source.nulled == {"connection_type": 13}
    assert source.unknown_words["connection_type"].most_common(2) == [("pigeon", 5), ("owl", 3)]
    assert set(source.unknown_words) == {"connection_type"}
    (line,) = [line for line in source.lines() if "unknown" in line]
    words = f"'pigeon' (5), 'owl' (3), '{'x' * 50}' (1), 'a' (1), 'b' (1), and 2 more"
    assert line == f"  unknown     connection_type {words}"
    assert known(output, "8.8.0.1", "8.8.4.1") == [
        {"user_type": "hosting"},
        {"user_type": "hosting", "connection_type": "Residential"},
    ]
