"""A name with a NUL character (no system call takes it): one line, whoever opens it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import geolookup
from geolookup.errors import GeoLookupError
from geolookup.gate import read_plans
from tests.datasets import SMALL

_NAME = "a\0b"
_RECIPE = '[dataset]\nname = "x"\n[[source]]\nformat = "csv"\npath = "a\\u0000b.csv"\n'


def _export(folder: Path, form: str) -> object:
    with geolookup.open(SMALL) as engine:
        return engine.export(folder / _NAME, form)


_CALLS: dict[str, Callable[[Path], Any]] = {
    "open": lambda folder: geolookup.open(folder / _NAME),
    "build": lambda folder: geolookup.build(folder / _NAME, folder / "x"),
    "recipe": lambda folder: geolookup.build(folder / "r.toml", folder / "x"),
    "rejects": lambda folder: geolookup.build(SMALL, folder / "x", rejects=folder / _NAME),
    "output": lambda folder: geolookup.build(SMALL, folder / _NAME),
    "publish": lambda folder: geolookup.publish(folder / _NAME, folder / "s"),
    "store": lambda folder: geolookup.publish(SMALL, folder / _NAME),
    "rollback": lambda folder: geolookup.rollback(folder / _NAME),
    "generations": lambda folder: geolookup.generations(folder / _NAME),
    "prune": lambda folder: geolookup.prune(folder / _NAME),
    "verify": lambda folder: geolookup.verify(folder / _NAME),
    "pack": lambda folder: geolookup.pack(SMALL, folder / _NAME),
    "unpack": lambda folder: geolookup.unpack(folder / _NAME, folder / "x"),
    "diff": lambda folder: geolookup.diff(SMALL, folder / _NAME),
    "update": lambda folder: geolookup.update(folder / _NAME, store=folder / "s"),
    "sign": lambda folder: geolookup.sign(SMALL, [folder / _NAME]),
    "csv": lambda folder: _export(folder, "csv"),
    "parquet": lambda folder: _export(folder, "parquet"),
    "plans": lambda folder: read_plans(folder / _NAME),
}


@pytest.mark.parametrize("call", _CALLS)
def test_it_is_refused_in_one_line(call: str, tmp_path: Path) -> None:
    (tmp_path / "r.toml").write_text(_RECIPE, encoding="utf-8")
    with pytest.raises(GeoLookupError) as refused:
        _CALLS[call](tmp_path)
    assert "\n" not in str(refused.value)
    assert "\0" not in str(refused.value)
