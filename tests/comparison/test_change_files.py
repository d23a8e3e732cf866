"""Files of changes: formats, conditions, and what a reader of a range must not believe."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from tests.cli.program import run
from tests.comparison import oracle
from tests.comparison.conftest import dataset
from tests.internals.comparison import diff_table
from tests.internals.contract import STORED

_FIELDS = "country,city,asn"


def _ranges(table: pa.Table) -> list[tuple[Any, str]]:
    return [(row["first_ipv4"] or row["first_ipv6"], row["kind"]) for row in table.to_pylist()]


def test_formats_have_the_same_rows(pair: tuple[Path, Path], tmp_path: Path) -> None:
    old, new = map(str, pair)
    for suffix in (".csv", ".jsonl.gz", ".parquet"):
        output = tmp_path / f"rows{suffix}"
        done = run("diff", old, new, "--json", "--rows", str(output), "--fields", _FIELDS)
        assert (done.returncode, done.stderr) == (0, f"geolookup: {output}: 5 rows\n")
        assert json.loads(done.stdout)["parts"]
    table = diff_table(old, new, "country", "city", "asn").read_all()
    in_file = parquet.read_table(tmp_path / "rows.parquet")
    assert in_file.schema == table.schema
    assert in_file.to_pylist() == table.to_pylist()
    with (tmp_path / "rows.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [(row["first"], row["last"]) for row in rows] == [
        ("8.8.8.128", "8.8.8.191"),
        ("9.9.9.0", "9.9.9.127"),
        ("9.9.9.128", "9.9.9.255"),
        ("11.0.0.0", "11.0.0.255"),
        ("2a00:0:8000::", "2a00:0:ffff:ffff:ffff:ffff:ffff:ffff"),
    ]
    plain = table.to_pylist()
    assert [row["addresses"] for row in plain] == [64, 128, 128, 256, 2**95]
    for row, values in zip(rows, plain, strict=True):
        for name in row.keys() - {"first", "last"}:
            assert row[name] == ("" if values[name] is None else str(values[name]))
    assert "kilometres" not in rows[0]  # the coordinates are not among the fields
    output = tmp_path / "rows.csv"
    assert "exists already" in run("diff", old, new, "--rows", str(output)).stderr
    assert len(output.read_text(encoding="utf-8").splitlines()) == 6
    run("diff", old, new, "--rows", str(output), "--force")
    assert output.read_text(encoding="utf-8").startswith("family,first,last,addresses,kind,kilo")


@pytest.mark.parametrize("options", [[], ["--fields", "all"], ["--fields", "country_name,city"]])
def test_columns_are_what_sources_state_unless_fields_are_named(
    options: list[str], pair: tuple[Path, Path], tmp_path: Path
) -> None:
    """The name of a country follows from its code: a column only on request."""
    output = tmp_path / "rows.parquet"
    assert run("diff", *map(str, pair), "--rows", str(output), *options).returncode == 0
    in_file = parquet.read_table(output)
    paths = json.loads(in_file.schema.metadata[b"geolookup"])["fields"]
    assert (
        paths
        == {
            "": [field.path for field in STORED if field.source_column],
            "all": [field.path for field in STORED],
            "country_name,city": ["location.country_name", "location.city_name"],
        }["".join(options[1:])]
    )
    names = [name for name in in_file.column_names if name.endswith("_before")]
    stated = [f"{path.replace('.', '_')}_before" for path in paths]
    assert [name for name in names if not name.startswith("source_")] == stated
    rows = diff_table(*pair, *options[1:] and options[1].split(",")).read_all()
    assert in_file.to_pylist() == rows.to_pylist()


def test_kilometres_are_null_without_coordinates_on_both_sides(tmp_path: Path) -> None:
    rows = "network,country_code,latitude,longitude\n8.8.8.0/25,US,10,{}\n8.8.8.128/25,{}\n"
    old = dataset(tmp_path / "old", one=rows.format(20, "US,10,20"))
    new = dataset(tmp_path / "new", one=rows.format(21, "DE,,"))
    far, unknown = diff_table(old, new).read_all()["kilometres"].to_pylist()
    assert far == round(oracle.kilometres((10, 20), (10, 21)) or 0, 3)  # in metres
    assert unknown is None


def test_conditions_hold_before_or_after(pair: tuple[Path, Path]) -> None:
    def rows(**options: Any) -> list[Any]:
        return [first for first, _ in _ranges(diff_table(*pair, **options).read_all())]

    every = rows()
    assert rows(where="country=CA") == every[:1]
    assert rows(where="country=US") == [every[0], every[3]]  # before, and gained
    assert rows(not_="country=CH") == [every[0], every[3], every[4]]
    assert rows(where="city=null", within="9.9.9.0/24") == every[1:2]
    assert rows(within="9.9.9.64/26") == [every[1] + 64]
    assert rows(within="2a00::/33") == []
    assert rows(where={"country": "FR", "not": {"asn": 4}}) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--rows", "x.xyz"], "x.xyz: the suffix names no format of tables; write .csv, .jsonl"),
        (["--rows", "x.csv", "--where", "country=UK"], "--where: 'UK' is not an ISO 3166 code"),
        (["--rows", "x.csv", "--fields", "cuntry"], "--fields: no field 'cuntry'; did you mean"),
        (["--not", "country=US"], "--where, --not, --fields and --force are about the file of"),
        (["--rows", "none/x.csv"], "none: no such folder; create it first"),
    ],
)
def test_misuse_is_one_line(
    arguments: list[str],
    message: str,
    pair: tuple[Path, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run("diff", *map(str, pair), *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"geolookup: {message}")
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
