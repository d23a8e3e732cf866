"""Errors inside files that are whole: ``verify`` names file, column and row."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import geolookup
from geolookup.errors import DatasetError
from tests.corrupt.forging import Change, manifest, put, replaced, rewrite, table, write
from tests.corrupt.probe import Probe, look_up
from tests.damage import copied, whole
from tests.internals.dataset import canonical
from tests.internals.dataset import layout as fmt
from tests.internals.integrity import DatasetTables, examine, verify
from tests.own_sources import own_dataset
from tests.tiers import one_of_each, scaled

V4, V6 = fmt.PROVENANCE[4], fmt.PROVENANCE[6]


def swap(one: int, other: int) -> Change:
    return lambda values: values.__setitem__(slice(None), _swapped(values, one, other))


def _swapped(values: list[Any], one: int, other: int) -> list[Any]:
    result = values.copy()
    result[one], result[other] = values[other], values[one]
    return result


#: File, column, change, and the message about its row.
STRUCTURE: tuple[tuple[str, str, Change, str], ...] = (
    (fmt.IPV4, "start", put(0, 1), "row 0: the first interval does not begin at 0"),
    (fmt.IPV4, "start", swap(2, 3), "row 3: not greater than the row before"),
    (fmt.IPV4, "location", put(4, 10**6), "row 4: outside location.arrow"),
    (fmt.IPV4, "network", put(4, 2**32 - 1), "row 4: outside network.arrow"),
    (fmt.IPV4, "location", put(1, None), "1 null value"),
    (fmt.IPV6, "start_high", swap(2, 4), "row 3: not greater than the row before"),
    (fmt.IPV6, "start_low", put(0, 7), "row 0: the first interval does not begin at 0"),
    (fmt.IPV6, "network", put(2, 999), "row 2: outside network.arrow"),
    (fmt.IPV4_JUMP, "interval", put(8, 3), "row 8: not the interval of its bucket"),
    (fmt.IPV4_JUMP, "interval", put(256, 10**6), "row 256: not the interval of its bucket"),
    (fmt.IPV6_SPARSE_INDEX, "start_high", put(0, 1), "row 0: not the start of its interval"),
    (fmt.LOCATION, "country", put(2, 9), "row 2: outside country.arrow"),
    (fmt.LOCATION, "zone", put(1, 999), "row 1: outside zone.arrow"),
    (fmt.LOCATION, "zone", put(0, 1), "row 0: not unknown"),
    (fmt.LOCATION, "city_name", put(0, "Nowhere"), "row 0: not unknown"),
    (fmt.ZONE, "zone", put(1, "../../etc/hosts"), "row 1: not the name of a time zone"),
    (fmt.ZONE, "zone", put(1, "A" * 65), "row 1: not the name of a time zone"),
    (V4, "start", swap(1, 2), "row 2: not greater than the row before"),
    (V4, "location", put(1, 2), "row 1: of 1 source"),
    (V6, "start_high", put(0, 1), "row 0: the first interval does not begin at 0"),
    (fmt.LOCATION, "json", put(2, "null"), "row 2: not 7 texts"),
    (fmt.COUNTRY, "json", put(1, "null\n" * 17), "row 1: not 17 texts"),
)


def _failure(case: tuple[str, str, Change, str]) -> str:
    """The problem, without its row, file or number."""
    return re.sub(r"\S*\d\S*|\S+\.arrow", "", case[-1])


@pytest.mark.parametrize("case", one_of_each(STRUCTURE, _failure))
def test_structure(dataset: Path, probes: list[Probe], case: tuple[str, str, Change, str]) -> None:
    name, column, change, said = case
    replaced(dataset, name, column, change)
    told = [str(damage) for damage in examine(dataset).damages]
    begins = f"{dataset / name}: column "
    assert any(
        message.startswith(begins) and column in message and said in message for message in told
    ), told
    assert all("\n" not in message and len(message) < 400 for message in told)
    look_up(dataset, probes, explain=True)


@pytest.mark.long
@pytest.mark.parametrize("case", STRUCTURE[::3])
def test_small_parts_find_the_same(
    dataset: Path, case: tuple[str, str, Change, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def of_three_rows(tables: DatasetTables, name: str, size: int = 0) -> Iterator[slice]:
        for begin in range(0, tables.rows(name), 3):
            yield slice(begin, min(begin + 3, tables.rows(name)))

    replaced(dataset, *case[:3])
    whole_files = [*map(str, examine(dataset).damages)]
    monkeypatch.setattr(DatasetTables, "parts", of_three_rows)
    assert [*map(str, examine(dataset).damages)] == whole_files


def test_a_zone_that_no_database_has(dataset: Path, probes: list[Probe]) -> None:
    """A newer database may have it."""
    replaced(dataset, fmt.ZONE, "zone", put(1, "Europe/Atlantis"))
    verify(dataset)
    look_up(dataset, probes, explain=True)


TABLES: tuple[tuple[str, Callable[[pa.Table], pa.Table], str], ...] = (
    (fmt.IPV4, lambda table: table.select(["location", "start", "network"]), "its columns are"),
    (fmt.IPV4, lambda table: table.rename_columns(["start", "location", "net"]), "columns are"),
    (fmt.IPV4_JUMP, lambda table: table.slice(1), "256 rows are not a jump table"),
    (fmt.IPV6_SPARSE_INDEX, lambda table: table.slice(1), "no rows"),
    (
        fmt.IPV4,
        lambda table: table.set_column(0, "start", table["start"].cast(pa.int64())),
        "column start: of type int64, not uint32",
    ),
)


def test_tables(tmp_path: Path, probes: list[Probe]) -> None:
    for name, change, said in TABLES:
        dataset = copied(whole(), tmp_path / "copy")
        write(dataset, name, change(table(dataset, name)))
        told = [str(damage) for damage in examine(dataset).damages]
        assert any(str(dataset / name) in message and said in message for message in told), told
        look_up(dataset, probes, explain=True)


def test_the_generation_covers_the_name(dataset: Path) -> None:
    (dataset / fmt.MANIFEST).write_bytes(canonical(manifest(dataset) | {"name": "forged"}))
    with pytest.raises(DatasetError, match=r"but the content gives [0-9a-f]{64};"):
        verify(dataset)


_FILES = "the files in the manifest are not the files of a dataset"
_COLUMNS = "the manifest describes other columns"
MANIFESTS: tuple[tuple[Callable[[Any], object], str], ...] = (
    (lambda table: table.pop("counts"), "'counts' is missing"),
    (lambda table: table.update(more=1), "unknown 'more'"),
    (lambda table: table["files"].pop(fmt.ZONE), _FILES),
    (lambda table: table["files"].update({"../x": {"bytes": 1}}), _FILES),
    (lambda table: table["files"].update({fmt.IPV4: 7}), "manifest is damaged"),
    (lambda table: table["files"][fmt.IPV4].update(rows=1), "rows, but the manifest says 1"),
    (lambda table: table["files"][fmt.IPV4].update(more=1), _COLUMNS),
    (lambda table: table["files"][fmt.IPV4].update(columns=None), _COLUMNS),
    (
        lambda table: table["files"][fmt.IPV4]["columns"]["start"].update(buffers=[None, [0, 8]]),
        _COLUMNS,
    ),
)


def test_manifests(dataset: Path) -> None:
    for change, said in MANIFESTS:
        document = manifest(whole())
        change(document)
        (dataset / fmt.MANIFEST).write_bytes(canonical(document))
        with pytest.raises(DatasetError, match=said):
            verify(dataset)


def test_a_dataset_of_other_fields_is_not_opened(dataset: Path) -> None:
    document = manifest(dataset)
    columns = document["files"][fmt.NETWORK]["columns"]
    columns["speed"] = columns.pop("isp")
    (dataset / fmt.MANIFEST).write_bytes(canonical(document))
    with pytest.raises(
        DatasetError, match=r"built with other fields \(isp, speed\); build it again"
    ):
        geolookup.open(dataset)


def test_other_texts_of_a_manifest(dataset: Path) -> None:
    path = dataset / fmt.MANIFEST
    text = path.read_bytes()
    half = text.replace(b'"damaged"', b'"\\ud800"')  # half of a character
    assert half != text
    alike = (text + b"\n", text.replace(b" ", b"  ", 1), text.decode().encode("utf-16"))
    for other in (half, *alike):
        path.write_bytes(other)
        said = "not a manifest" if other == half else "not the canonical form of a manifest"
        with pytest.raises(DatasetError, match=said):
            verify(dataset)


# Own columns.


#: File, column, change, and the message.
OWN: tuple[tuple[str, str, Change, str], ...] = (
    (fmt.IPV4, "own", put(1, 10**6), "row 1: outside own.arrow"),
    (fmt.IPV6, "own", put(0, 2**32 - 1), "row 0: outside own.arrow"),
    (fmt.OWN, "site_id", put(0, "Nowhere"), "row 0: not unknown"),
    (fmt.OWN, "json", put(1, "{}"), "row 1: not 6 texts"),
    (V4, "own.threat", put(1, 9), "row 1: of 3 sources"),
)


def test_damage_of_own_columns(tmp_path: Path, probes: list[Probe]) -> None:
    for number, (name, column, change, problem) in enumerate(OWN):
        dataset = copied(own_dataset(), tmp_path / "copy")
        replaced(dataset, name, column, change)
        messages = [str(damage) for damage in examine(dataset).damages]
        assert any(f"{dataset / name}: " in text and problem in text for text in messages), messages
        if number % scaled(4, 1) == 0:
            look_up(dataset, probes, explain=True)


#: Columns of a manifest that no recipe declares so, and members that it leaves out: defaults.
_OWN_COLUMNS: list[object] = [
    *([], [{"name": "site_id", "type": "string"}], "text", [{"name": "other"}], {}),
]
_DEFAULTS = [{"group": None}, {"group": "risk_score"}, {"private": False}, {"description": ""}]


def test_columns_of_a_manifest(tmp_path: Path) -> None:
    dataset = copied(own_dataset(), tmp_path / "copy")
    document = manifest(dataset)
    for columns in _OWN_COLUMNS:
        rewrite(dataset, document | {"columns": columns})
        assert examine(dataset).damages
        with pytest.raises(DatasetError), geolookup.open(dataset) as engine:
            engine.own("8.8.8.8")
    for member in _DEFAULTS:
        changed = [
            column | member if column["name"] == "risk_score" else column
            for column in document["columns"]
        ]
        rewrite(dataset, document | {"columns": changed})
        assert examine(dataset).damages
