"""Damage to own columns: ``verify`` names file, column and row; lookups answer or refuse."""

from __future__ import annotations

from pathlib import Path

import pytest

import geolookup
from geolookup.errors import DatasetError
from tests.corrupt.forging import Change, manifest, put, replaced, rewrite
from tests.corrupt.probe import Probe, look_up, probes
from tests.damage import copied
from tests.internals.dataset import layout as fmt
from tests.internals.integrity import examine
from tests.own_sources import own_dataset
from tests.tiers import scaled

V4 = fmt.PROVENANCE[4]
#: File, column, change, and the message.
CASES: tuple[tuple[str, str, Change, str], ...] = (
    (fmt.IPV4, "own", put(1, 10**6), "row 1: outside own.arrow"),
    (fmt.IPV6, "own", put(0, 2**32 - 1), "row 0: outside own.arrow"),
    (fmt.OWN, "site_id", put(0, "Nowhere"), "row 0: not unknown"),
    (fmt.OWN, "json", put(1, "{}"), "row 1: not 6 texts"),
    (V4, "own.threat", put(1, 9), "row 1: of 3 sources"),
)


@pytest.fixture(name="probes", scope="module")
def _probes() -> list[Probe]:
    return probes()


def test_damage_of_own_columns(tmp_path: Path, probes: list[Probe]) -> None:
    for number, (name, column, change, problem) in enumerate(CASES):
        dataset = copied(own_dataset(), tmp_path / "copy")
        replaced(dataset, name, column, change)
        messages = [str(damage) for damage in examine(dataset).damages]
        assert any(f"{dataset / name}: " in text and problem in text for text in messages), messages
        if number % scaled(4, 1) == 0:
            look_up(dataset, probes, explain=True)


#: Columns of a manifest that no recipe declares so, and members that it leaves out: defaults.
_COLUMNS: list[object] = [
    *([], [{"name": "site_id", "type": "string"}], "text", [{"name": "other"}], {}),
]
_DEFAULTS = [{"group": None}, {"group": "risk_score"}, {"private": False}, {"description": ""}]


def test_columns_of_a_manifest(tmp_path: Path) -> None:
    dataset = copied(own_dataset(), tmp_path / "copy")
    document = manifest(dataset)
    for columns in _COLUMNS:
        rewrite(dataset, document | {"columns": columns})
        assert examine(dataset).damages
        with pytest.raises(DatasetError), geolookup.open(dataset) as engine:
            engine.own("8.8.8.8")
    for member in _DEFAULTS:
        columns = [
            column | member if column["name"] == "risk_score" else column
            for column in document["columns"]
        ]
        rewrite(dataset, document | {"columns": columns})
        assert examine(dataset).damages
