"""JSON lines that are unusual, and ones that are damaged: told by line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builder.sources.formats.test_generic_typed import as_json
from tests.builder.sources.formats.test_ipinfo import MIXED, records
from tests.builder.sources.readings import Read, one, refused
from tests.internals.builder import jsonlines

JSON = as_json(records(MIXED)).encode()
FIRST = JSON.splitlines(keepends=True)[0]
GOOD_JSON = {
    "byte order mark": b"\xef\xbb\xbf" + JSON,
    "CRLF": JSON.replace(b"\n", b"\r\n"),
    "blank lines": b"\n\n" + JSON.replace(b"\n", b"\n \t\n"),
    "no line end": JSON.rstrip(),
    "absent keys": JSON + b'{"network":"8.8.9.0/24"}\n{}\n',
    "other keys": JSON + b'{"network":"8.8.9.0/24","more":{"deep":[1,{}]}}\n',
    "null": JSON + b'{"network":"8.8.9.0/24","asn":null,"country_code":null}\n',
    "big cell": JSON + b'{"network":"8.8.9.0/24","as_name":"' + b"x" * (1 << 20) + b'"}\n',
    "controls": JSON + b'{"network":"8.8.9.0/24","as_name":"a\\u0000\\nb\\ud83c\\udff3"}\n',
}


@pytest.mark.parametrize("block", [300, 16 << 20])
def test_unusual_json(read: Read, monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    monkeypatch.setattr(jsonlines, "BLOCK_BYTES", block)
    for case, content in GOOD_JSON.items():
        reading = read({"a.json": content}, one("ipinfo", "a.json"))
        assert reading.at("8.8.4.4") == {"continent_code": "AS", "country_code": "CN"}, case
        assert reading.at("2600:1::7")["asn"] == 64501, case
        assert reading.source.rejected.total() == (case == "absent keys"), case


BAD_JSON: dict[str, tuple[bytes, int | None]] = {
    "cut in a record": (JSON + FIRST[:40], 4),
    "null before": (b"null\n" + JSON, 1),
    "null after": (JSON + b"null\n" + JSON, 4),
    "null in the next block": (JSON * 400 + b"null\n" + JSON, 1201),
    "over two lines": (JSON + b'{"network":\n"8.8.9.0/24"}\n', 4),
    "a list": (b"[" + FIRST.rstrip() + b"]\n", None),
    "text": (JSON + b"the end\n", 4),
    "NUL": (JSON + b"\0\0\0\n", 4),
    "a key twice": (JSON + b'{"network":"8.8.9.0/24","asn":"1","asn":"2"}\n', 4),
    "another type": (JSON + b'\n{"network":"8.8.9.0/24","asn":15169}\n', 5),
    "an object for a text": (JSON + b'{"network":{}}\n', 4),
    "not UTF-8": (JSON + b'{"network":"8.8.9.0/24","as_name":"Malm\xf6"}\n', 4),
    "half a surrogate": (JSON + b'{"network":"8.8.9.0/24","as_name":"\\ud83c"}\n', 4),
    "a record too long": (JSON + b'{"as_name":"' + b"x" * 70_000, 4),
    "deep": (JSON + b'{"a":' + b"[" * 5000 + b"\n", 4),
}


def test_damaged_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonlines, "BLOCK_BYTES", 30_000)
    monkeypatch.setattr(jsonlines, "MAX_LINE", 30_000)
    for case, (content, line) in BAD_JSON.items():
        error = refused(tmp_path, "a.json", content, one("ipinfo", "a.json"))
        assert (error.path, error.line) == (str(tmp_path / "a.json"), line), case
