"""Own columns of an engine: the default one, reloads, pickles, threads and processes."""

from __future__ import annotations

from pathlib import Path

import pytest

import geolookup
from tests import own
from tests.datasets import SMALL

SOURCE = '[[source]]\nformat = "csv"\npath = "a.csv"\n'
ADDRESSES = ["8.8.8.8", "8.8.8.9", "10.0.0.1", "10.1.2.3", "9.9.9.9", "fd00::1", "x"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return own.add_own(SMALL, tmp_path_factory.mktemp("own") / "dataset")


def _publish(folder: Path, store: Path, columns: str, rows: str) -> None:
    folder.mkdir()
    (folder / "a.csv").write_text(rows, encoding="utf-8")
    (folder / "recipe.toml").write_text(
        f'[dataset]\nname = "own"\n{columns}{SOURCE}', encoding="utf-8"
    )
    geolookup.build(folder / "recipe.toml", folder / "dataset")
    geolookup.publish(folder / "dataset", store)


@pytest.mark.usefixtures("_no_default_engine")
def test_the_default_engine(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEOLOOKUP_DATASET", str(folder))
    for text in ADDRESSES[:-1]:
        assert geolookup.own(text) == own.expected(own.ROWS, text)
    assert geolookup.own("[10.1.2.3]", clean=True) == geolookup.own("10.1.2.3")
    with geolookup.open() as engine:
        assert [column["name"] for column in engine.metadata.columns] == own.NAMES
    with pytest.raises(geolookup.errors.ClosedError):
        engine.own("8.8.8.8")


def test_a_reload_refuses_to_lose_a_column(tmp_path: Path) -> None:
    store = tmp_path / "store"
    both = '[columns]\nsite = { type = "text", private = true }\nrisk = "integer"\n'
    rows = "network,site,risk\n10.0.0.0/8,HQ,\n8.8.8.0/24,DNS,5\n"
    _publish(tmp_path / "one", store, both, rows)
    with geolookup.open(store) as engine, geolookup.open(store, allow_lost_fields=True) as loose:
        assert engine.own("10.0.0.1") == {"site": "HQ", "risk": None}
        answer = engine.answer("8.8.8.8")
        only = '[columns]\nsite = { type = "text", private = true }\n'
        _publish(tmp_path / "two", store, only, "network,site\n10.0.0.0/8,HQ 2\n")
        with pytest.raises(geolookup.DatasetError, match=r"lacks own\.risk of the old generation"):
            engine.reload()
        assert engine.get("8.8.8.8", ["own.risk"]) == (5,)
        assert loose.reload()
        assert loose.own("10.0.0.1") == {"site": "HQ 2"}
        with pytest.raises(ValueError, match=r"no column 'own\.risk'"):
            loose.get("8.8.8.8", ["own.risk"])
        _publish(tmp_path / "three", store, "", "network,country_code\n8.8.8.0/24,US\n")
        assert loose.reload()
        with pytest.raises(ValueError, match="no own columns"):
            loose.own("8.8.8.8")
        assert answer.own.risk == 5  # of its generation
