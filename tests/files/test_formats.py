"""Every format, packed in every way, into every other: the user's columns and ours."""

from __future__ import annotations

import gzip
import sys
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from itertools import pairwise, product
from pathlib import Path
from threading import active_count
from typing import Any
from unittest import mock

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from geolookup import Engine
from geolookup.errors import TableFileError
from tests.cli.program import run
from tests.files.tables import (
    ADDRESSES,
    AT,
    FIELDS,
    KINDS,
    answers,
    as_cells,
    packed,
    read,
    table,
    unpacked,
    written,
)
from tests.internals.files import Counts, FileOptions, enrich_file, open_output, table_file
from tests.skips import needs

OPTIONS = FileOptions("ip", FIELDS, at=AT)
_ASN = FileOptions("ip", ("network.asn",))
TEXT_KINDS = ("csv", "tsv")


def enrich(engine: Engine, source: Path, target: Path, options: FileOptions = OPTIONS) -> Counts:
    before, after = (table_file(str(path), None, "") for path in (source, target))
    return enrich_file(engine, before, after, options)


def expected(engine: Engine, source: str, target: str) -> list[dict[str, Any]]:
    """Return the rows that must come out; a CSV does not tell nothing from an empty text here."""
    rows = table().to_pylist()
    if source in TEXT_KINDS:  # the oracle writes no quoted empty cells
        rows = [{name: value or None for name, value in row.items()} for row in rows]
    made = answers(engine, ADDRESSES)
    whole = [{**row, **item} for row, item in zip(rows, made, strict=True)]
    return as_cells(whole) if target in TEXT_KINDS else whole


def test_every_format_into_every_other(sample: Engine, tmp_path: Path) -> None:
    """Packed or not; a header without rows, or a file without rows, is a table."""
    ways = [("", ""), (".gz", ".zst"), (".zst", ".gz"), (".gz", ".gz"), (".zst", ".zst")]
    for source, target in product(KINDS, KINDS):
        for packing, repacking in ways if source == target else ways[:1]:
            before = tmp_path / f"{target}.{source}{packing}"
            after = tmp_path / f"{source}.out.{target}{repacking}"
            before.write_bytes(packed(written(table(), source), packing))
            counts = enrich(sample, before, after)
            rows = read(unpacked(after), target)
            assert rows == expected(sample, source, target), (before, after)
            assert (counts.rows, counts.invalid, counts.private) == (10, 4, 1)
    for kind in KINDS:
        before, after = tmp_path / f"none.{kind}", tmp_path / f"none.out.{kind}"
        before.write_bytes(written(table().slice(0, 0), kind))
        assert enrich(sample, before, after).rows == 0
        assert read(after.read_bytes(), kind) == []


def test_csv_comes_out_as_it_went_in(sample: Engine, tmp_path: Path) -> None:
    text = (
        b'id,note,"a ""name""",ip,id\n007,"",,8.8.8.8,1e5\n\xff\xfe,"x,y\n",2026-01-02 ,8.8.8.8,\n'
    )
    (tmp_path / "in.csv").write_bytes(b"\xef\xbb\xbf" + text.replace(b"\n0", b"\n\n0"))
    options = FileOptions("ip", ("location.country_code",))
    enrich(sample, tmp_path / "in.csv", tmp_path / "out.csv", options)
    lines = text.replace(b",id\n", b",id,location_country_code\n")
    lines = lines.replace(b",1e5\n", b",1e5,US\n").replace(b"8.8.8.8,\n", b"8.8.8.8,,US\n")
    assert (tmp_path / "out.csv").read_bytes() == lines
    (tmp_path / "in.csv").write_bytes(b"ip\n8.8.8.8\n\n1.1.1.1")  # one column keeps its empty lines
    enrich(sample, tmp_path / "in.csv", tmp_path / "out.csv", _ASN)
    written = (tmp_path / "out.csv").read_bytes()
    assert written == b"ip,network_asn\n8.8.8.8,15169\n,\n1.1.1.1,13335\n"
    plain = b'n,ip\r\n 007 ,8.8.8.8\r\n\r\n\n"7",1.1.1.1\n\xff, '  # whole lines pass through
    (tmp_path / "in.csv").write_bytes(plain)
    enrich(sample, tmp_path / "in.csv", tmp_path / "out.csv", _ASN)
    written = (tmp_path / "out.csv").read_bytes()
    assert written == b'n,ip,network_asn\n 007 ,8.8.8.8,15169\n"7",1.1.1.1,13335\n\xff, ,\n'


def test_json_lines_come_out_as_they_went_in(sample: Engine, tmp_path: Path) -> None:
    lines = [
        '{"ip": "8.8.8.8", "n": 1.0, "big": 123456789012345678901234567890, "t": "2026-01-02"}',
        '{"n": "now a text", "nested": {"a": [1, {"b": null}]}, "ip":"1.1.1.1"}',
        "{ }",
        '{"ip":null,"date":"2026-01-02 00:00:00"}',
    ]
    (tmp_path / "in.jsonl").write_text("\n\n".join(lines) + "\r\n", encoding="utf-8")
    enrich(sample, tmp_path / "in.jsonl", tmp_path / "out.jsonl", _ASN)
    result = (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()
    added = [',"network_asn":15169}', ',"network_asn":13335}', '"network_asn":null}']
    assert result == [
        line[:-1] + end for line, end in zip(lines, [*added, f",{added[2]}"], strict=True)
    ]


def _typed() -> pa.Table:
    moment = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
    return pa.table(
        {
            "ip": pa.array(["8.8.8.8", "1.1.1.1", None]).dictionary_encode(),
            "small": pa.array([1, None, 255], pa.uint8()),
            "float": pa.array([0.1, float("nan"), None], pa.float32()),
            "moment": pa.array([moment, None, moment], pa.timestamp("us", "Asia/Tokyo")),
            "day": pa.array([moment.date(), None, moment.date()], pa.date32()),
            "price": pa.array([Decimal("1.10"), None, Decimal("2.00")], pa.decimal128(9, 2)),
            "raw": pa.array([b"\xff\x00", None, b""], pa.binary()),
            "struct": pa.array([{"a": [1, None], "b": 'q"'}, None, {"a": None, "b": None}]),
            "lists": pa.array([[["x"], []], None, [None]]),
            "nothing": pa.nulls(3),
        },
        metadata={"theirs": "kept"},
    )


def test_types_and_metadata_are_kept(sample: Engine, tmp_path: Path) -> None:
    before, after = tmp_path / "in.parquet", tmp_path / "out.parquet"
    before.write_bytes(written(_typed(), "parquet"))
    enrich(sample, before, after)
    was, now = (pq.read_table(path) for path in (before, after))
    assert now.schema.names[: was.num_columns] == was.schema.names
    kept = now.select(range(was.num_columns))
    assert kept.schema.equals(was.schema, check_metadata=False)
    assert kept.drop(["float"]).equals(was.drop(["float"]))
    assert (now.schema.metadata or {})[b"theirs"] == b"kept"
    assert pa.types.is_dictionary(now.schema.field("location_country_code").type)
    assert now["network_asn"].to_pylist() == [15169, 13335, None]


def test_every_type_as_text(sample: Engine, tmp_path: Path) -> None:
    (tmp_path / "in.parquet").write_bytes(written(_typed(), "parquet"))
    for target in ("out.csv", "out.jsonl"):
        enrich(sample, tmp_path / "in.parquet", tmp_path / target, _ASN)
    rows = read((tmp_path / "out.csv").read_bytes(), "csv")
    moment = "2026-01-02 12:04:05.678901+0900"
    assert [*rows[0].values()] == [
        *("8.8.8.8", "1", "0.1", moment, "2026-01-02", "1.10", "ff00"),
        *('{"a":[1,null],"b":"q\\""}', '[["x"],[]]', "", "15169"),
    ]
    first, second, third = read((tmp_path / "out.jsonl").read_bytes(), "jsonl")
    assert first["struct"] == {"a": [1, None], "b": 'q"'}
    assert first["price"] == 1.1
    assert set(second.values()) == {None, "1.1.1.1", 13335}
    texts = {"raw": "", "day": "2026-01-02", "moment": moment}
    others = {"small": 255, "lists": [None], "struct": {"a": None, "b": None}, "price": 2.0}
    assert third == dict.fromkeys(first) | texts | others


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_under_the_final_name_for_a_file_without_an_end(
    kind: str, sample: Engine, tmp_path: Path
) -> None:
    """Cut anywhere, packed or not, a file is either told to be bad or read up to a whole row."""
    whole = written(table(), kind)
    for suffix in ("", ".gz", ".zst"):
        data = packed(whole, suffix)
        must_fail = bool(suffix) or kind == "parquet"
        for cut in range(0, len(data), max(len(data) // 12, 1)):
            before, after = tmp_path / f"in.{kind}{suffix}", tmp_path / f"out.{kind}{suffix}"
            before.write_bytes(data[:cut])
            refused = _refusal(sample, before, after)
            if refused:
                assert refused.startswith(str(before))
                assert "8.8.8.8" not in refused
                assert [path.name for path in tmp_path.iterdir()] == [before.name]
            else:
                assert not must_fail, cut
                after.unlink()
        before.unlink()


def _refusal(engine: Engine, before: Path, after: Path) -> str | None:
    try:
        enrich(engine, before, after)
    except TableFileError as error:
        return str(error)
    return None


WRONG: list[tuple[str, bytes, str]] = [
    ("a.csv", b"ip,n\n8.8.8.8,1\n8.8.8.8,1,2\n", "a.csv, row 3: 3 cells where the header"),
    ("a.csv", b"ip,n\n" + b"8.8.8.8,1\n" * 500_000 + b"8.8.8.8\n", "a.csv, row 500002: 1 cells"),
    ("a.csv", b'ip,n\n8.8.8.8,1\n8.8.8.8,"2\n', "a.csv, row 3: a quote is never closed"),
    (
        "a.csv",
        b'ip,n\n8.8.8.8,"' + b"x" * (20 << 20) + b'"\n',
        "a.csv, row 2: a line or record of more than 16,777,216 bytes; close the quote of its cell",
    ),
    ("a.csv", b"", "a.csv: is empty"),
    ("a.csv", gzip.compress(b"", mtime=0), "a.csv: this looks like gzip, not CSV; give"),
    ("a.csv", "ip\n8.8.8.8\n".encode("utf-16"), "a.csv: this looks like UTF-16, not CSV; con"),
    ("a.jsonl", b"PAR1\x15\x04\x15", "a.jsonl: this looks like Parquet, not text; name its"),
    ("a.jsonl", b"SQLite format 3\0\x10", "a.jsonl: this looks like SQLite, not text; export"),
    ("a.csv", b"IP ,n\n8.8.8.8,1\n", "a.csv: no column 'ip'; did you mean --ip-column 'IP '?"),
    ("a.csv", b"x,n\n8.8.8.8,1\n", "no column 'ip'; name another by --ip-column; known are x"),
    ("a.csv", b"ip,ip\n8.8.8.8,1\n", "a.csv: several columns are named 'ip'; rename"),
    ("a.csv", b"ip,network_asn\n8.8.8.8,1\n", "column 'network_asn' exists already; pass --prefix"),
    ("a.jsonl", b'{"ip":"8.8.8.8"}\n\n{"ip":"8.8.8.8"\n', "a.jsonl, row 3: not one JSON object"),
    ("a.jsonl", b'null\n{"ip":"8.8.8.8"}\n', "a.jsonl, row 1: not one JSON object"),
    ("a.jsonl", b'{"ip":"8.8.8.8"}\n{"ip":8}\n', "a.jsonl, row 2: member 'ip' changes its type"),
    ("a.jsonl", b'{"ip":"8.8.8.8"} {"ip":"8.8.8.8"}\n', "row 1: not one JSON object; write one"),
    ("a.jsonl", b'{"ip":"8.8.8.8","x":"\\ud800"}\n', "row 1: a member changes its type, occurs"),
    ("a.parquet", b"8.8.8.8" * 100, "a.parquet: is damaged or not of the format parquet"),
    ("a.csv.gz", b"8.8.8.8" * 100, "is it whole?"),
    ("a.jsonl.gz", b"", "a.jsonl.gz: is empty; is it whole?"),
    ("a.jsonl", b'{"ip":"8.8.8.8"}\n' * 500_000 + b"{", "a.jsonl, row 500001: not one JSON object"),
    ("a.jsonl", b"8" * (9 << 20), "a.jsonl, row 1: a line or record of more than"),
]


def _refused(engine: Engine, folder: Path, name: str, content: bytes, **options: Any) -> str:
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(content)
    with pytest.raises(TableFileError) as raised:
        enrich(engine, folder / name, folder / f"out-{name}", replace(_ASN, **options))
    told = str(raised.value)
    assert "8.8.8.8" not in told
    assert "\n" not in told
    assert [path.name for path in folder.iterdir()] == [name]
    (folder / name).unlink()
    return told


@mock.patch("geolookup.files.text_blocks.LONGEST_LINE", 1 << 22)
def test_what_is_wrong_is_told_in_a_line(sample: Engine, tmp_path: Path) -> None:
    for name, content, told in WRONG:
        assert told in _refused(sample, tmp_path, name, content)
    yesterday = b"ip,when\n8.8.8.8,yesterday\n"
    options: dict[str, Any] = {"time_column": "when", "fields": ("time.current_time",)}
    told = "row 2: a time has an unknown form"
    assert told in _refused(sample, tmp_path, "a.csv", yesterday, **options)
    private = b"ip\n8.8.8.8\n10.0.0.1\n"
    told = "row 3: Cannot geolocate private IP"
    assert told in _refused(sample, tmp_path, "a.csv", private, on_invalid="raise")
    nameless: dict[str, Any] = {"on_invalid": "raise", "header": False, "column": "column1"}
    assert "row 2: Cannot" in _refused(sample, tmp_path, "a.csv", private[3:], **nameless)
    (tmp_path / "a.csv").write_bytes(b"ip,n\n8.8.8.8,1\n8.8.8.8,\xff\n")
    (tmp_path / "a.jsonl").write_bytes(b'{"ip":"8.8.8.8"}\n\n{"ip":"8.8.8.8","l":[{"\xff":1}]}\n')
    for name in ("a.csv", "a.jsonl"):
        with pytest.raises(TableFileError, match=rf"{name}, row 3: is not UTF-8"):
            enrich(sample, tmp_path / name, tmp_path / "out.parquet")
        enrich(sample, tmp_path / name, tmp_path / f"out-{name}")


def test_addresses_in_members_of_objects(sample: Engine, tmp_path: Path) -> None:
    """As Caddy and Traefik write them; the path is also one of Parquet, and of every output."""
    options = FileOptions("request.remote.ip", ("network.asn",), time_column="request.ts")
    line = '{"ts":1.5,"request":{"remote":{"ip":"8.8.8.8","port":1},"ts":1795132800.5}}'
    (tmp_path / "a.jsonl").write_text(f'{{"request":{{}}}}\n{line}\n', encoding="utf-8")
    for source, target in pairwise(("a.jsonl", "a.parquet", "b.jsonl", "c.csv")):
        made = replace(options, prefix=f"{source}_")
        enrich(sample, tmp_path / source, tmp_path / target, made)
        rows = read((tmp_path / target).read_bytes(), target[2:])
        assert str(rows[1][f"{source}_network_asn"]) == "15169"
    enrich(sample, tmp_path / "a.jsonl", tmp_path / "b.jsonl", options)
    assert (tmp_path / "b.jsonl").read_text("utf-8").endswith(line[:-1] + ',"network_asn":15169}\n')
    told = _refused(
        sample, tmp_path / "empty", "a.jsonl", line.encode(), column="request.remote.IP"
    )
    assert "no column 'request.remote.IP'; did you mean --ip-column 'request.remote.ip'?" in told


def test_values_of_json_stay(sample: Engine, tmp_path: Path) -> None:
    """In other formats too: texts like times, long integers, empty objects, our names."""
    text = b'{"ip":"8.8.8.8","o":{"t":"2020-01-01T00:00:00Z"},"l":["2020-01-01"]}\n'
    source, made = tmp_path / "a.jsonl", tmp_path / "a.parquet"
    source.write_bytes(text)
    enrich(sample, source, made, _ASN)
    row = read(made.read_bytes(), "parquet")[0]
    assert (row["o"], row["l"]) == ({"t": "2020-01-01T00:00:00Z"}, ["2020-01-01"])
    for line, target, told in (
        ('{"ip":"8.8.8.8","n":12345678901234567890}', "csv", "row 1: member 'n' has an integer"),
        ('{"ip":"8.8.8.8","n":1.5}\n{"n":9007199254740993 }', "csv", "row 2: member 'n' has"),
        ('{"ip":"8.8.8.8","o":[{"n":9007199254740993},{"n":0.5}]}', "csv", "row 1: member 'o' has"),
        ('{"ip":"8.8.8.8","o":[{"e":{}}]}', "parquet", "objects without members"),
        ('{"ip":"8.8.8.8"}\n{"network_asn":1}', "jsonl", "row 2: member 'network_asn' exists"),
    ):
        source.write_text(line, encoding="utf-8")
        with pytest.raises(TableFileError, match=told):
            enrich(sample, source, tmp_path / f"out.{target}", _ASN)
    source.write_text('{"ip":"8.8.8.8","n":1e300,"o":{"network_asn":1}}', encoding="utf-8")
    for target in ("csv", "c.jsonl"):
        assert enrich(sample, source, tmp_path / f"out.{target}", _ASN).located == 1


def test_members_that_occur_late_are_named(sample: Engine, tmp_path: Path) -> None:
    rows = '{"ip":"8.8.8.8","o":{"a":1}}\n' * 200_000 + '{"ip":"8.8.8.8","n":1,"o":{"b":2}}\n'
    (tmp_path / "a.jsonl").write_text(rows, encoding="utf-8")
    counts = enrich(sample, tmp_path / "a.jsonl", tmp_path / "b.parquet", _ASN)
    assert counts.rows == 200_001
    problem = "members that the first 4 MiB lack were dropped: n, o.b"
    assert counts.notes == [f"{tmp_path / 'a.jsonl'}: {problem}"]


def test_rows_without_an_address(sample: Engine, tmp_path: Path) -> None:
    """No address at all is refused with the remedy, unless nulls were asked for."""
    column = b"ip\n8.8.8.8:53\nx\n"
    told = _refused(sample, tmp_path, "a.csv", column)
    assert told.endswith("the first 2 rows hold no address in column 'ip'; pass --clean")
    told = _refused(sample, tmp_path, "a.csv", b"ip\nx\n", clean=True)
    assert "row holds no address in column 'ip'; name another by --ip-column; annotate" in told
    (tmp_path / "a.csv").write_bytes(column)
    nulls = replace(_ASN, on_invalid="null")
    counts = enrich(sample, tmp_path / "a.csv", tmp_path / "b.csv", nulls)
    assert (counts.rows, counts.invalid) == (2, 2)
    (tmp_path / "a.csv").write_bytes(column + b"1.1.1.1\n\n\xff\n")
    counts = enrich(sample, tmp_path / "a.csv", tmp_path / "b.csv", _ASN)
    told = f"{tmp_path / 'a.csv'}: --clean would read 1 of 3 invalid rows"
    assert (counts.invalid, counts.notes) == (4, [told])
    (tmp_path / "a.csv").write_bytes(b"ip,n\n,1\n")  # null is no text that was misread
    assert enrich(sample, tmp_path / "a.csv", tmp_path / "b.csv", _ASN).invalid == 1


@pytest.mark.parametrize("threaded", [pytest.param(True, marks=needs("zlib_ng")), False])
def test_gzip_outputs_are_whole_or_absent(
    threaded: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Compressed by the library on threads, or by the standard library; the threads end."""
    if not threaded:
        monkeypatch.setitem(sys.modules, "zlib_ng", None)
    data, threads = b"8.8.8.8,US\n" * 500_000, active_count()
    with open_output(str(tmp_path / "a.gz"), ".gz") as stream:
        stream.write(data)
    assert gzip.decompress((tmp_path / "a.gz").read_bytes()) == data
    with suppress(KeyError), open_output(str(tmp_path / "b.gz"), ".gz") as stream:
        stream.write(data)
        raise KeyError
    assert [path.name for path in tmp_path.iterdir()] == ["a.gz"]
    assert active_count() == threads


@pytest.mark.parametrize(
    ("target", "value"),
    [
        ("parquet", "[" * 100_000),
        pytest.param("csv", "[" * 400 + "1" + "]" * 400, marks=pytest.mark.long),
        pytest.param("parquet", '{"a":' * 65 + "1" + "}" * 65, marks=pytest.mark.long),
    ],
)
def test_values_that_are_nested_deep(target: str, value: str, tmp_path: Path) -> None:
    """In a process of its own: Arrow crashes where it infers the types of the first."""
    rows = f'{{"ip":"8.8.8.8","n":[1]}}\n{{"ip":"8.8.8.8","n":{value}}}\n'
    (tmp_path / "a.jsonl").write_text(rows, encoding="utf-8")
    done = run("enrich", "a.jsonl", "--output", f"b.{target}", folder=tmp_path, alone=True)
    problem = "values are nested deeper than 64, or a bracket is not closed"
    assert done.stderr == f"geolookup: a.jsonl, row 2: {problem}; flatten or repair them\n"
    assert done.returncode == 2


def test_brackets_that_are_not_deep(tmp_path: Path) -> None:
    """In texts, side by side, and as deep as allowed."""
    deep = "[" * 63 + "1" + "]" * 63
    row = f'{{"ip":"8.8.8.8","t":"{"[" * 500}","s":[{"[1]," * 99}[1]],"d":{deep}}}\n'
    (tmp_path / "a.jsonl").write_text(row, encoding="utf-8")
    done = run("enrich", "a.jsonl", "--output", "b.csv", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert f",{deep}," in (tmp_path / "b.csv").read_text(encoding="utf-8")
