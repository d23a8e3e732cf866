"""Datasets that tell each other apart: every answer holds its dataset's number, twice."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import geolookup
from geolookup import publish
from tests.conftest import build_at
from tests.datasets import once
from tests.internals.dataset import read_manifest

ADDRESSES = ("8.8.8.8", "9.9.9.9", "2001:4860::1", "::ffff:8.8.8.8", "1.2.3.4")


def numbered(folder: Path, number: int, *, date: str = "") -> Path:
    """Build the dataset of a number, with a source date if given."""
    return named(folder, f"n{number}", number, date=date)


def named(folder: Path, name: str, number: int, *, date: str = "") -> Path:
    folder.mkdir()
    networks = ("8.8.8.0/24", "9.9.9.0/24", "2001:4860::/32", "1.0.0.0/8")
    rows = "".join(f"{network},Town {number},Carrier {number}\n" for network in networks)
    recipe = f'[dataset]\nname = "{name}"\n[[source]]\nformat = "csv"\npath = "a.csv"\n'
    if date:
        recipe += f'date = "{date}"\n'
    return build_at(folder, {"a.csv": f"network,city_name,isp\n{rows}"}, recipe)[0]


def shared(number: int) -> Path:
    """The dataset of a number under the name "geo", compiled once in a run; nobody changes it."""
    return once(f"store-{number}", lambda folder: named(folder, "geo", number)) / "dataset"


def id_of(number: int) -> str:
    return generation(shared(number))


def published(target_folder: Path, *numbers: int) -> Path:
    """Copy a store that has published the shared datasets of these numbers, in order."""
    name = f"store-of-{'-'.join(map(str, numbers))}"
    return shutil.copytree(once(name, partial(_published, numbers)), target_folder)


def _published(numbers: Sequence[int], store: Path) -> None:
    for number in numbers:
        publish(shared(number), store, keep_unpacked=9)


def generation(dataset: Path) -> str:
    return read_manifest(dataset).generation


def answers(engine: geolookup.Engine) -> list[bytes]:
    return [engine.lookup_json(ip, at=0) for ip in ADDRESSES]


def answers_of(dataset: Path) -> list[bytes]:
    with geolookup.open(dataset) as engine:
        return answers(engine)


def number(engine: geolookup.Engine) -> int:
    """The number that an engine answers with; one number, in both places."""
    data: Any = engine.lookup("8.8.8.8", at=0)["data"]
    town, carrier = data["location"]["city_name"].split(), data["network"]["isp"].split()
    assert town[1] == carrier[1]
    return int(town[1])
