"""Own columns in exports: rows of special-purpose space too, each format read by its own reader."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import geolookup
from geolookup.errors import ExportError
from geolookup.export.ranges import DEFAULT, fields_of
from tests import own_random
from tests.conftest import build_at
from tests.datasets import SMALL
from tests.export.own_rows import own_rows
from tests.export.reading import READERS
from tests.export.test_export import of_reader
from tests.own import OwnRow, add_own
from tests.own_sources import own_dataset
from tests.tiers import scaled

HOSTILE = (
    *('a "b"\', c', "line\nfeed\r\nand\ttab", "back\\slash \\N \\. \\t", "=1+1", "\\", '"'),
    *("@x'); drop table geolookup; --", "{}[\u2028]", "ñ😀"),
)
_FORMATS = (
    *(("csv", "range", "a.csv"), ("csv", "cidr", "a.csv"), ("jsonl", "cidr", "a.jsonl")),
    *(("jsonl", "range", "a.jsonl"), ("parquet", "range", "a/*/*.parquet")),
)


@pytest.fixture(scope="module")
def own() -> Iterator[geolookup.Engine]:
    with geolookup.open(own_dataset()) as engine:
        yield engine


@pytest.fixture(scope="module")
def hostile_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[geolookup.Engine]:
    rows = [
        OwnRow(f"10.{at}.0.0/16", {"site_id": text, "tags": [text, "x"], "risk_score": -(2**63)})
        for at, text in enumerate(HOSTILE)
    ]
    rows.append(OwnRow("8.8.8.0/24", {"share": -1e-7, "is_vpn": False, "risk_score": 2**63 - 1}))
    with geolookup.open(add_own(SMALL, tmp_path_factory.mktemp("own") / "own", rows)) as engine:
        yield engine


def fields(engine: geolookup.Engine, paths: Any = None) -> Any:
    return fields_of(paths, engine.snapshot().dataset.schema)


@pytest.mark.parametrize("name", [*map(of_reader, READERS)])
def test_rows_are_the_answers(
    name: str, own: geolookup.Engine, hostile_own: geolookup.Engine, tmp_path: Path
) -> None:
    for at, engine in enumerate((own, hostile_own)):
        columns = fields(engine)
        assert [field.path for field in columns[len(DEFAULT) :]] == [
            f"own.{column['name']}" for column in engine.metadata.columns
        ]
        wanted = own_rows(engine, columns)
        counts = engine.export(tmp_path / f"{at}", name)
        assert READERS[name](tmp_path / f"{at}", columns) == wanted
        assert counts == {"ranges": len(wanted)}
    hq = [row for row in own_rows(own, fields(own, ["own.site_id"])) if row[3] == ("HQ",)]
    assert hq == [(4, 10 << 24, (10 << 24) + (1 << 16) - 1, ("HQ",)),
                  (4, (10 << 24) + (2 << 16), (11 << 24) - 1, ("HQ",))]  # fmt: skip


@pytest.mark.parametrize("name", ["csv", of_reader("sqlite"), of_reader("duckdb")])
def test_chosen_fields(name: str, own: geolookup.Engine, tmp_path: Path) -> None:
    for at, paths in enumerate((["own"], ["own.site_id", "country"], ["own.is_vpn"], ["country"])):
        columns = fields(own, paths)
        own.export(tmp_path / f"{at}", name, fields=paths)
        assert READERS[name](tmp_path / f"{at}", columns) == own_rows(own, columns)
    own.export(tmp_path / "part", name, within="10.1.0.0/16")
    ((family, first, last, values),) = READERS[name](tmp_path / "part", fields(own))
    assert (family, first, last) == (4, (10 << 24) + (1 << 16), (10 << 24) + (2 << 16) - 1)
    assert "Branch" in values
    with pytest.raises(ExportError, match=r"the dataset has no column 'own\.x'"):
        own.export(tmp_path / "x", name, fields=["own.x"])


def again(engine: geolookup.Engine, folder: Path, export_format: tuple[str, str, str]) -> Path:
    """Export a dataset and compile the export with the same columns."""
    name, form, path = export_format
    engine.export(folder / path.partition("/")[0], name, ranges=form)
    source = f'[[source]]\nformat = "{name}"\npath = "{path}"\n'
    recipe = f'[dataset]\nname = "again"\n{columns_of(engine)}{source}'
    output, report = build_at(folder, {}, recipe)
    assert all(not item.rejected for item in report.sources)
    return output


def columns_of(engine: geolookup.Engine) -> str:
    """Return the table of a recipe that declares the columns of a dataset."""
    lines = [
        f'{column["name"]} = {{ type = "{column["type"]}"'
        f", private = {str(column.get('private', False)).lower()} }}"
        for column in engine.metadata.columns
    ]
    return "\n".join(["[columns]", *lines, ""])


@pytest.mark.parametrize("export_format", _FORMATS)
def test_an_export_that_is_compiled_again(
    export_format: tuple[str, str, str], own: geolookup.Engine, tmp_path: Path
) -> None:
    with geolookup.open(again(own, tmp_path, export_format)) as engine:
        assert own_rows(engine, fields(engine)) == own_rows(own, fields(own))


@settings(max_examples=scaled(3, 60), suppress_health_check=list(HealthCheck), deadline=None)
@given(own_random.rows, st.sampled_from(_FORMATS))
def test_any_export_that_is_compiled_again(
    listed: list[own_random.Row], export_format: tuple[str, str, str]
) -> None:
    with TemporaryDirectory() as folder:
        Path(folder, "again").mkdir()
        with geolookup.open(own_random.build(Path(folder), listed)) as engine:
            wanted = own_rows(engine, fields(engine))
            assume(wanted)
            output = again(engine, Path(folder, "again"), export_format)
        with geolookup.open(output) as other:
            assert own_rows(other, fields(other)) == wanted
            for address in own_random.addresses():
                known = own_random.expected(listed, address)
                columns = other.own(address) or {}
                assert {
                    f"own.{name}": value for name, value in columns.items() if value is not None
                } == {name: value for name, value in known.items() if name != "country_code"}


def test_a_dataset_without_own_columns(sample: geolookup.Engine, tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="the dataset has no own columns; declare them"):
        sample.export(tmp_path / "a.csv", fields=["own"])
    with pytest.raises(ExportError, match="columns: the dataset has no own columns"):
        sample.export(tmp_path / "a.mmdb", columns=["own"])


def test_postgresql_cuts_no_name(tmp_path: Path) -> None:
    name = "x" * 60
    recipe = (
        f'[dataset]\nname = "t"\n[columns]\n{name} = "text"\n'
        '[[source]]\nformat = "csv"\npath = "a.csv"\n'
    )
    output, _ = build_at(tmp_path, {"a.csv": f"network,{name}\n8.0.0.0/8,x\n"}, recipe)
    with geolookup.open(output) as engine:
        with pytest.raises(ExportError, match=f"cuts the name own_{name} after 63 bytes"):
            engine.export(tmp_path / "a.sql")
        assert engine.export(tmp_path / "b.sql", fields=["country"]) == {"networks": 0}
