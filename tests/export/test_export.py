"""The formats of exports and their options; rows of plain files are the answers of the dataset."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import geolookup
from geolookup.errors import ExportError, OutputError
from tests.cli.program import refusal, run
from tests.damage import copied
from tests.datasets import SMALL
from tests.export.conftest import HOSTILE
from tests.export.reading import READERS, expected
from tests.internals.export import DEFAULT, fields_of
from tests.internals.kernel import state_of


def fields_read(engine: geolookup.Engine, paths: Any = None) -> Any:
    return fields_of(paths, state_of(engine).dataset.schema)


@pytest.mark.parametrize("name", READERS)
def test_rows_are_the_answers(
    name: str, hostile: geolookup.Engine, sample: geolookup.Engine, tmp_path: Path
) -> None:
    wanted, columns = expected(hostile), fields_read(hostile)
    values = {str(item) for row in wanted for item in row[3]}
    assert values >= {*HOSTILE, *(str([text, "x"]) for text in HOSTILE)}
    assert [column.path for column in columns[len(DEFAULT) :]] == [
        f"own.{column['name']}" for column in hostile.metadata.columns
    ]
    counts = hostile.export(tmp_path / "hostile", name)
    assert READERS[name](tmp_path / "hostile", columns) == wanted
    assert counts == {"ranges": len(wanted)}
    paths = ["own.site", "country"]
    counts = hostile.export(tmp_path / "few", name, fields=paths)
    rows = READERS[name](tmp_path / "few", fields_read(hostile, paths))
    assert rows == expected(hostile, paths)
    assert counts == {"ranges": len(rows)}  # adjacent ranges of equal values are one
    hostile.export(tmp_path / "part", name, fields=paths, within="10.1.128.0/17")
    ((_, *ends, _),) = READERS[name](tmp_path / "part", fields_read(hostile, paths))
    assert ends == [(10 << 24) + (3 << 15), (10 << 24) + (4 << 15) - 1]
    assert sample.export(tmp_path / "nothing", name, within="10.0.0.0/8") == {"ranges": 0}
    assert READERS[name](tmp_path / "nothing", fields_of(None)) == []


def test_a_part_of_the_space(sample: geolookup.Engine, tmp_path: Path) -> None:
    paths = ("network.asn",)
    sample.export(tmp_path / "part", "csv", fields=paths, within="8.8.8.128/25", ranges="cidr")
    text = (tmp_path / "part").read_text(encoding="utf-8")
    assert text == "network,network_asn\n8.8.8.128/25,15169\n"
    sample.export(tmp_path / "ipv6", "csv", fields=paths, family="6")
    sample.export(tmp_path / "a.csv", family=6, fields="asn", within=None)  # the format by suffix
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "ipv6").read_bytes()
    message = "the suffix of '.*a.txt' names no format; name one: mmdb, csv, "
    with pytest.raises(ExportError, match=message):
        sample.export(tmp_path / "a.txt")
    rows = READERS["csv"](tmp_path / "ipv6", fields_of(paths))
    assert rows == [value for value in expected(sample, paths) if value[0] == 6]


@pytest.mark.long
def test_the_same_dataset_gives_the_same_bytes(sample: geolookup.Engine, tmp_path: Path) -> None:
    for name in ("csv", "jsonl", "parquet", "mmdb"):
        first, second = (_written(sample, name, tmp_path / f"{name}{n}") for n in (1, 2))
        assert first == second != b""
    packed = _written(sample, "csv", tmp_path / "a.csv.gz")  # compressed by its suffix
    assert gzip.decompress(packed) == (tmp_path / "csv1").read_bytes()


def _written(engine: geolookup.Engine, name: str, output: Path) -> bytes:
    engine.export(output, name)
    files = sorted(output.rglob("*")) if output.is_dir() else [output]
    return b"".join(file.read_bytes() for file in files if file.is_file())


def test_wrong_options(sample: geolookup.Engine, tmp_path: Path) -> None:
    cases: list[tuple[str, dict[str, Any], str]] = [
        ("mdb", {}, "no format 'mdb'; did you mean 'mmdb'"),
        ("mmdb", {"shema": "city"}, "mmdb has no option shema; did you mean 'schema'"),
        ("mmdb", {"schema": "cty"}, "no schema 'cty'; did you mean 'city'"),
        ("csv", {"fields": ("time.abbr",)}, "time.abbr follows from the address or the time"),
        ("csv", {"fields": ("ip",)}, "ip follows from the address or the time"),
        ("csv", {"fields": ("location.town",)}, "no field 'location.town'"),
        ("csv", {"within": "8.8.8.8/8"}, "within must be a network without host bits"),
        ("csv", {"ranges": "ip4r"}, "no ranges 'ip4r'; known are range, cidr"),
        ("csv", {"family": "5"}, "no family '5'"),
        ("csv", {"family": 5}, "no family '5'; known are 4, 6"),
        ("csv", {"fields": ("own",)}, "the dataset has no own columns; declare them"),
        ("csv", {"fields": ("own.x",)}, "own.x"),
        ("mmdb", {"columns": ["own"]}, "columns: the dataset has no own columns"),
    ]
    for name, options, message in cases:
        with pytest.raises(ExportError) as caught:
            sample.export(tmp_path / "out", name, **options)
        assert message in str(caught.value)
        assert not any(tmp_path.iterdir())


def test_no_output_in_the_dataset(sample: geolookup.Engine) -> None:
    before = sorted(sample.path.iterdir())
    for output in (sample.path, sample.path / "ipv4.arrow", sample.path / "new"):
        with pytest.raises(OutputError, match="is in the dataset itself"):
            sample.export(output, "parquet", force=True)
    assert sorted(sample.path.iterdir()) == before


def test_a_folder_of_other_files_stays(sample: geolookup.Engine, tmp_path: Path) -> None:
    output = tmp_path / "out"
    sample.export(output, "parquet")
    with pytest.raises(OutputError, match="exists already"):
        sample.export(output, "parquet")
    sample.export(output, "parquet", family="6", force=True)
    assert sorted(path.name for path in output.iterdir()) == ["ipv6"]
    (output / "mine.parquet").touch()
    with pytest.raises(OutputError, match="is not empty and not a parquet export"):
        sample.export(output, "parquet", force=True)


def test_the_command_writes_a_file_and_says_what(tmp_path: Path) -> None:
    target = tmp_path / "a.mmdb"
    flat = run("export", str(SMALL), "--output", str(target))
    assert flat.stderr.startswith("geolookup: the schema is flat, for maxminddb; for geoip2 ")
    args = ("--format", "mmdb", "--output", str(target), "--schema", "city", "--force")
    done = run("export", str(SMALL), *args)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"{target}: {target.stat().st_size:,} bytes, ")
    for options, problem in (
        (("mdb",), "--format: 'mdb' is not one of 'mmdb', "),
        (("mmdb", "--fields", "location.cty_name"), "location.city_name"),
    ):
        refused = ("export", str(SMALL), "--output", str(tmp_path / "x"), "--format", *options)
        assert problem in refusal(*refused)
        assert list(tmp_path.iterdir()) == [target]


def test_a_damaged_dataset_leaves_no_file(tmp_path: Path) -> None:
    copy = copied(SMALL, tmp_path / "copy")
    manifest = json.loads((copy / "manifest.json").read_text(encoding="utf-8"))
    begin, size = manifest["files"]["ipv4.arrow"]["columns"]["location"]["buffers"][1]
    whole = bytearray((copy / "ipv4.arrow").read_bytes())
    whole[begin : begin + size] = b"\xff" * size  # rows that the table does not have
    (copy / "ipv4.arrow").write_bytes(whole)
    for name in ("mmdb", "csv"):
        assert refusal("export", str(copy), "--format", name, "--output", str(tmp_path / "x"))
        assert list(tmp_path.iterdir()) == [copy]
