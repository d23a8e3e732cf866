"""Cells of the generic CSV: quotes, line breaks, control characters, size and encoding."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from geolookup_builder.sources.reading import delimited

import geolookup
from tests.builder.building import fails
from tests.builder.sources.readings import Read
from tests.conftest import Build

TEXTS = [
    'say "hi"',
    '"',
    "back\\slash\\",
    "comma, inside",
    "line\nbreak",
    "carriage\r\nreturn",
    "tab\tand \x01\x1f\x7f\x80 controls",
    "NUL \0 inside",
    "emoji 🏳️‍🌈 𝄞",
    "separators \u2028 and \u2029 inside",
    "\u202eright to left\u202c עברית",
    "e\u0301 is not é",
    "\ufeffbyte order mark",
    "\U0010ffff\ufffe\ufffd",
    "null",
    "NaN",
    "N/A",
    "true",
    "-",
    "0",
    "%s %d {} $1 \\1",
    "</script><!--",
    "x" * 511,
    "x" * 512 + "é" * 100,
]


def csv_text(column: str, texts: list[str]) -> str:
    stream = io.StringIO(newline="")
    rows = csv.writer(stream)
    rows.writerow(["network", column])
    rows.writerows([f"8.8.{number}.0/24", text] for number, text in enumerate(texts))
    return stream.getvalue()


@pytest.mark.parametrize("field", ["city_name", "region_code", "asn_organization", "isp"])
def test_unusual_texts_come_back_unchanged(build: Build, field: str) -> None:
    output, report = build({"a.csv": csv_text(field, TEXTS)})
    assert report.sources[0].nulled.total() == 0
    group = "location" if field in ("city_name", "region_code") else "network"
    with geolookup.open(output) as engine:
        for number, text in enumerate(TEXTS):
            answer: Any = engine.lookup(f"8.8.{number}.7", at=0)
            assert answer["data"][group][field] == text
            compact = json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
            assert engine.lookup_json(f"8.8.{number}.7", at=0) == compact.encode()


def test_blank_cells_are_unknown(read: Read) -> None:
    reading = read({"a.csv": csv_text("isp", ["", " ", "\t", "\u00a0\u2003", "  x  "])})
    found = reading.values("isp", *(f"8.8.{number}.1" for number in range(5)))
    assert found == [None, None, None, None, "x"]


def test_rows_across_many_blocks(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delimited, "BLOCK_BYTES", 64)
    texts = [f"line\n{number}, {'x' * (number % 30)}." for number in range(200)]
    reading = read({"a.csv": csv_text("isp", texts)})
    assert reading.source.read == 200
    assert reading.values("isp", *(f"8.8.{number}.1" for number in range(200))) == texts


def test_a_row_longer_than_a_block_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delimited, "BLOCK_BYTES", 64)
    error = fails(tmp_path, {"a.csv": csv_text("isp", ["a", "x" * 1000, "b"])})
    assert f"{tmp_path / 'a.csv'}: not CSV (" in str(error)


def test_quotes_inside_an_unquoted_cell_stand_for_themselves(read: Read) -> None:
    reading = read({"a.csv": 'network,isp\n8.8.8.0/24,5" disk\n8.8.9.0/24,x\n'})
    assert reading.values("isp", "8.8.8.8", "8.8.9.9") == ['5" disk', "x"]


OPEN_QUOTES = {
    'network,isp\n8.8.8.0/24,x\n8.8.9.0/24,"y\n8.8.10.0/24,z\n': 3,
    'network,isp\n8.8.8.0/24,"a\nb"\n\n8.8.9.0/24,"y\n8.8.10.0/24,z': 5,
    'network,isp\n"8.8.9.0/24,y\n8.8.10.0/24,z\n': 2,
    'network,isp\n8.8.9.0/24,y\n8.8.10.0/24,"': 3,
    'network,isp\r8.8.9.0/24,y\r8.8.10.0/24,"""\r8.8.11.0/24,z': 3,
}


def test_a_quote_that_is_never_closed(tmp_path: Path) -> None:
    """It would swallow the rest of the file without a word."""
    for text, line in OPEN_QUOTES.items():
        problem = f"{tmp_path / 'a.csv'}:{line}: a quote is never closed; close it"
        assert str(fails(tmp_path, {"a.csv": text})).startswith(problem)


NOT_UTF8 = {
    b"network,isp\n8.8.8.0/24,x\n8.8.9.0/24,\xff\n": 3,
    b'network,isp\n8.8.8.0/24,"a\nb"\n8.8.9.0/24,\xc3(\n': 4,
    b"network,isp\n8.8.8.\xe9/24,x\n": 2,
    b"network,isp\n8.8.8.0/24,cut\xc3": 2,
    b"network,isp\n8.8.8.0/24,\xed\xa0\x80\n": 2,
    b"network,isp\n" + b"8.8.8.0/24,x\n" * 200_000 + b"8.8.9.0/24,Malm\xf6\n": 200_002,
}


def test_what_is_not_utf8_is_named_by_line(tmp_path: Path) -> None:
    for content, line in NOT_UTF8.items():
        problem = f"{tmp_path / 'a.csv'}:{line}: not UTF-8; convert it to UTF-8"
        assert str(fails(tmp_path, {"a.csv": content})) == problem
