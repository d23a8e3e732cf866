"""Vendors' words in the contract's: every word of every vendor, and what no vendor says."""

from __future__ import annotations

import pyarrow as pa
import pytest
from geolookup_builder import schema
from geolookup_builder.sources.reading import delimited
from geolookup_builder.vocabulary import CONNECTION_TYPES, USER_TYPES, VOCABULARY, translated

from tests.builder.building import known
from tests.conftest import Build

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


def test_the_table_is_of_the_contract() -> None:
    for words, kinds in ((CONNECTION_TYPES, schema.CONNECTION_TYPES),
                         (USER_TYPES, schema.USER_TYPES)):  # fmt: skip
        assert all(words[kind.lower()] == kind for kind in kinds)
        assert set(words.values()) - {None} == set(kinds)
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


def test_a_million_unknown_words_are_not_kept(build: Build) -> None:
    rows = "".join(f"8.{at >> 8}.{at & 255}.0/24,word {at}\n" for at in range(5000))
    _, report = build({"a.csv": f"network,user_type\n{rows}"})
    assert report.sources[0].nulled == {"user_type": 5000}
    assert len(report.sources[0].unknown_words["user_type"]) == 100
