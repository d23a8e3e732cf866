"""Very many lookups, with reloads among them: memory must not grow.

``python -m tests.store.soak --lookups 100000000`` prints memory and open files as it goes,
and exits with 1 if they grew. Two generations of the small dataset take turns.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import geolookup
from geolookup.contract.fields import PATHS
from geolookup.dataset.files import Dataset
from geolookup.store.generations import rollback
from geolookup.store.publish import publish
from tests.datasets import SMALL
from tests.near_addresses import near_addresses
from tests.store.reading import descriptors, resident

_TEXTS = 25_000
#: Reports of one run, a reload at each.
_REPORTS = 40
#: What memory may grow by after the first quarter: caches have filled up by then.
_ALLOWED = 4 << 20


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lookups", type=int, default=100_000_000)
    lookups = parser.parse_args(arguments).lookups
    with tempfile.TemporaryDirectory() as folder:
        readings = list(_readings(Path(folder), lookups))
    settled, last = readings[_REPORTS // 4], readings[-1]
    grown = last[0] - settled[0]
    print(f"grown by {grown / 1024:,.0f} kB since the first quarter, files {settled[1]}, {last[1]}")
    return int(grown > _ALLOWED or last[1] > settled[1])


def _readings(folder: Path, lookups: int) -> Iterator[tuple[int, int]]:
    store = folder / "store"
    publish(_other(folder), store)
    publish(SMALL, store)
    texts = list(islice(near_addresses(random.Random(20261121), Dataset(SMALL)), _TEXTS))
    rounds = max(1, lookups // (_REPORTS * _TEXTS))
    with geolookup.open(store) as engine:
        asking = _asking(engine, texts)
        for report in range(1, _REPORTS + 1):
            for ask in islice(asking, rounds):
                ask()
            if report % 2:
                rollback(store)
            else:
                publish(SMALL, store)
            assert engine.reload()
            yield (reading := (resident(), descriptors()))
            done = f"{report * rounds * _TEXTS:,} lookups"
            print(f"{done}: {reading[0] / 1024:,.0f} kB, {reading[1]} files", flush=True)


def _asking(engine: geolookup.Engine, texts: list[str]) -> Iterator[Callable[[], None]]:
    """Yield calls that look all texts up, each by another way of asking."""

    def by(ask: Callable[[str], Any]) -> Callable[[], None]:
        def all_of_them() -> None:
            for text in texts:
                ask(text)

        return all_of_them

    drawn = random.Random(5)
    while True:
        yield by(engine.lookup_json)
        yield by(engine.lookup)
        at = drawn.randrange(1 << 32)
        yield by(lambda text, at=at: engine.lookup_json(text, at=at))  # type: ignore[misc]
        path = drawn.choice(sorted(PATHS))
        yield by(lambda text, path=path: _get(engine, text, path))  # type: ignore[misc]


def _get(engine: geolookup.Engine, text: str, path: geolookup.FieldPath) -> None:
    try:
        engine.get(text, path)
        engine.data(text)
    except geolookup.ContractError:
        pass


def _other(folder: Path) -> Path:
    """Return a dataset as large as the small one, of another generation: its names are reversed."""
    from geolookup_builder.compile import Options, compile_dataset

    from geolookup.progress import Progress
    from tests.conftest import ROOT

    shutil.copytree(ROOT / "sample_data", folder / "inputs")
    recipe = folder / "inputs" / "small.toml"
    recipe.write_text(recipe.read_text().replace("geolookup-sample", "elpmas-pukooloeg"))
    compile_dataset(recipe, folder / "other", Options(), Progress())
    return folder / "other"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
