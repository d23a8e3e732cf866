"""The sources of a call: paths, tables and dicts, and the mistakes that are refused."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as pads
import pyarrow.parquet as papq
import pytest

import geolookup
from geolookup.errors import BuildError
from tests.builder.building import isps, known
from tests.skips import needs

SITES = pa.table(
    {
        "network": ["8.8.8.0/24", "2600:1::/32", "9.9.9.9"],
        "isp": ["one", None, "three"],
        "asn": [5, 4294967295, None],
        "latitude": [47.5, float("nan"), None],
        "longitude": [8.5, float("nan"), None],
    }
)
ADDRESSES = ("8.8.8.8", "2600:1::1", "9.9.9.9")
KNOWN = [{"isp": "one", "asn": 5, "latitude": 47.5, "longitude": 8.5}, {"asn": 4294967295}]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder: relative paths are relative to it."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def answers(source: Any) -> list[dict[str, Any]]:
    geolookup.build(sources=[source], output="dataset", force=True)
    return known(Path("dataset"), *ADDRESSES)


def refused(*sources: Any, **options: Any) -> str:
    with pytest.raises((BuildError, TypeError, ValueError)) as caught:
        geolookup.build(sources=[*sources], output="refused", **options)
    assert not Path("refused").exists()
    assert "\n" not in str(caught.value)
    return str(caught.value)


# --- tables and paths


def test_tables_of_arrow() -> None:
    papq.write_table(SITES, "sites.parquet")
    batch = SITES.combine_chunks().to_batches()[0]
    tables = [SITES, batch, SITES.to_reader(), batch.to_struct_array(), pads.dataset(SITES)]
    for table in (*tables, "sites.parquet", Path("sites.parquet")):
        assert answers(table) == [*KNOWN, {"isp": "three"}]


@needs("pandas")
def test_frames_of_pandas() -> None:
    """Row labels without a name are not read; a named index is a column."""
    frame = SITES.to_pandas()
    assert frame["asn"].dtype == float
    sorted_frame = frame.sort_values("isp", ascending=False)
    assert "__index_level_0__" in pa.table(sorted_frame).schema.names
    sorted_frame.to_parquet("sorted.parquet")
    for table in (frame.convert_dtypes(), frame.set_index("network"), "sorted.parquet"):
        assert answers(table) == [*KNOWN, {"isp": "three"}]


def test_order_is_precedence_and_dicts_have_the_keys_of_a_source(folder: Path) -> None:
    (folder / "a.csv").write_text("network,isp\n8.8.8.0/23,file\n", encoding="utf-8")
    table = pa.table({"net": ["8.8.8.8"], "provider": ["table"], "asn": [7]})
    columns = {"network": "net", "isp": "provider", "asn": "asn"}
    mapped = {"table": table, "columns": columns, "name": "sites", "licence": "ours"}
    mapped |= {"date": "2026-11-20", "fields": ["isp"]}
    report = geolookup.build(sources=[mapped, {"path": Path("a.csv")}], output="d", name="mine")
    assert [source.name for source in report.sources] == ["sites", "a.csv"]
    assert known(folder / "d", "8.8.8.8", "8.8.8.9") == [{"isp": "table"}, {"isp": "file"}]
    with geolookup.open("d") as engine:
        (first, second), name = engine.metadata.sources, engine.metadata.name
    assert (name, first.licence, first.date, first.format) == (
        "mine",
        "ours",
        "2026-11-20",
        "table",
    )
    assert (second.name, second.format) == ("a.csv", "csv")
    geolookup.build(sources=["a.csv", mapped], output="d", force=True)
    assert isps(folder / "d", "8.8.8.8") == ["file"]


@pytest.mark.long
def test_the_bundled_dataset_is_a_source(folder: Path) -> None:
    """A file of that name is data, as everywhere."""
    over = pa.table({"network": ["8.8.8.8"], "isp": ["over"]})
    geolookup.build(sources=[over, "bundled"], output="d")
    bundled = geolookup.get("8.8.8.8", "country")
    with geolookup.open("d") as engine:
        assert engine.get("8.8.8.8", "isp", "country") == ("over", bundled)
    (folder / "bundled").write_text("network,isp\n8.8.8.0/24,file\n", encoding="utf-8")
    geolookup.build(sources=["bundled"], output="d", force=True)
    assert isps(folder / "d", "8.8.8.8") == ["file"]


# --- rejected rows


def test_rejected_rows_have_numbers(folder: Path) -> None:
    table = pa.table({"network": ["8.8.8.0/24", "nowhere", "8.8.4.0/24"], "asn": ["5", "6", "x"]})
    with pytest.raises(BuildError, match="rejected") as caught:
        geolookup.build(sources=[SITES, table], output="d", rejects="rejects.csv")
    assert str(caught.value).startswith("sources[1]:2: ")
    _, *rows = csv.reader(Path("rejects.csv").read_text(encoding="utf-8").splitlines())
    assert [(file, line, text) for file, line, _, text in rows] == [
        ("sources[1]", "2", "nowhere"),
        ("sources[1]", "3", "8.8.4.0/24"),
    ]
    report = geolookup.build(sources=[table], output="d", max_rejected=1, max_nulled=1)
    assert (report.sources[0].read, report.sources[0].used) == (3, 2)


# --- mistakes


def test_sources_that_are_none() -> None:
    assert refused() == "sources is empty; pass a path or a table"
    call: Any = geolookup.build
    wrong: tuple[tuple[dict[str, Any], str], ...] = (
        ({"sources": SITES, "output": "d"}, "sources is not a list, but of type Table"),
        ({"sources": [SITES]}, "no output; pass the folder to create"),
        ({"output": "d"}, "no recipe and no sources; pass one of them"),
        ({"recipe": SITES, "output": "d"}, "recipe is of type Table; pass a path, or tables as"),
        ({"sources": [SITES], "output": "d", "nam": "x"}, "unexpected keyword argument 'nam'"),
    )
    for options, text in wrong:
        with pytest.raises(TypeError) as caught:
            call(**options)
        assert text in str(caught.value)
    for name in ("columns", "name", "fields", "sources"):
        with pytest.raises(ValueError, match=rf"^(recipe and )?{name} "):
            call("r.toml", "d", **{name: [SITES]})
    call = geolookup.check
    with pytest.raises(TypeError, match="no recipe and no sources"):
        call()


def test_sources_of_another_kind() -> None:
    text = "; pass a path, or a table of Arrow, pandas, Polars or with Arrow's PyCapsule interface"
    assert refused(SITES, 5) == f"sources[1] is of type int{text}"
    assert refused({"table": [["8.8.8.8"]]}) == f"sources[0] is of type list{text}"
    assert refused({"table": SITES, "path": "x"}).startswith("sources[0] has a table and a path")
    assert refused({"table": SITES, "format": "csv"}).startswith("sources[0] has a table and a f")
    assert refused({"format": "table", "path": "x"}) == (
        "sources[0]: source.table is missing; pass a table"
    )
    assert "unknown key source.network" in refused({"network": ["8.8.8.8"]})
    assert refused(SITES, "none.csv").startswith("none.csv: no such file")
    assert "dataset.name is not a text" in refused(SITES, name="")
    assert "'isp' is a name of the contract" in refused(SITES, columns={"isp": "text"})
    assert "'txt' is not a type of a column" in refused(SITES, columns={"site": "txt"})


def test_columns_that_hold_no_values() -> None:
    ipv4 = pa.array([b"\x08\x08\x08\x08"], pa.binary(4))
    day = pa.ExtensionArray.from_storage(_Day(), pa.array(["8.8.8.8"]))
    marked = pa.field("network", pa.string(), metadata={"ARROW:extension:name": "acme.day"})
    text = refused(pa.table([["8.8.8.8"]], schema=pa.schema([marked])))
    assert "column 'network' is of the extension type acme.day" in text
    assert "column 'network' is of the extension type test.day" in refused(
        pa.table({"network": day})
    )
    assert "UTF8" in refused(pa.table({"network": ipv4, "isp": pa.array([b"\xff"])}))
    assert answers(pa.table({"network": ipv4, "isp": ["x"]})) == [{"isp": "x"}, {}, {}]


class _Day(pa.ExtensionType):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__(pa.string(), "test.day")

    def __arrow_ext_serialize__(self) -> bytes:
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, _storage: pa.DataType, _serialized: bytes) -> _Day:
        return cls()
