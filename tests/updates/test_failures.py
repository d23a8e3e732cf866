"""Updates that are killed or find the disk full: the store keeps the old or the new generation."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import geolookup
from geolookup.errors import OutputError
from tests.cli.program import run
from tests.conftest import ROOT
from tests.corrupt.test_full_disk import small as small  # noqa: PLC0414 - a fixture
from tests.store.dying import Kind
from tests.tiers import scaled
from tests.updates.conftest import Update, is_tidy
from tests.updates.publisher import ASN, COUNTRY, Publisher, countries

_NO_END = 100_000
#: The points of an update at which it is killed, and refused by the disk.
POINTS = scaled(3, 10)


def process(kind: Kind, step: int, recipe: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tests.updates.killed", kind, str(step), str(recipe)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "builder")])},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL on this system")
@pytest.mark.parametrize("kind", ["kill", "fault"])
def test_at_any_step(
    kind: Kind, update: Update, publisher: Publisher, store: Path, tmp_path: Path
) -> None:
    """From one generation to the next; the next update repairs whatever is left."""
    old = update().generation
    for folder in (store, tmp_path / "cache"):
        shutil.copytree(folder, f"{folder}-before")
    publisher.put(COUNTRY, countries("DE"))
    whole = process("kill", _NO_END, publisher.recipe)
    steps = _NO_END - int(whole.stdout)
    assert steps > 50
    (new, *_) = geolookup.generations(store)
    for step in random.Random(20261122).sample(range(steps), POINTS):
        for folder in (store, tmp_path / "cache"):
            shutil.rmtree(folder)
            shutil.copytree(f"{folder}-before", folder)
        done = process(kind, step, publisher.recipe)
        if kind == "kill":
            assert done.returncode == -signal.SIGKILL
        else:  # a hard link that fails becomes a copy, and what cannot be removed stays
            assert done.returncode == 0 or "OutputError" in done.stderr
        with geolookup.open() as engine:
            assert engine.generation in (old, new.generation)
            geolookup.verify(engine.path, deep=True)
        assert update().generation == new.generation
        assert is_tidy(store)


def test_killed_in_the_first_update(update: Update, publisher: Publisher, store: Path) -> None:
    for step in (30, 60):
        assert process("kill", step, publisher.recipe).returncode == -signal.SIGKILL
    assert update().state in ("updated", "current")
    assert is_tidy(store)


def test_the_disk_of_the_store_is_full(
    small: Path, publisher: Publisher, store: Path, tmp_path: Path
) -> None:
    recipe = str(publisher.recipe)
    options = ("--store", str(small / "store"))
    assert run("update", recipe, *options).returncode == 0
    (before,) = geolookup.generations(small / "store")
    publisher.put(COUNTRY, countries("DE"))
    (small / "filler").write_bytes(bytes(shutil.disk_usage(small).free - 8192))
    done = run("update", recipe, *options)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "No space left on device" in done.stderr
    assert geolookup.generations(small / "store") == [before]
    assert is_tidy(small / "store")
    (small / "filler").unlink()
    subprocess.run(["mount", "-o", "remount,size=1m", str(small)], check=True)
    assert run("update", recipe, *options).returncode == 0
    assert is_tidy(small / "store")


def test_the_disk_of_the_cache_is_full(
    small: Path, update: Update, publisher: Publisher, store: Path
) -> None:
    first = update().generation
    (small / "filler").write_bytes(bytes(shutil.disk_usage(small).free - 4096))
    with pytest.raises(OutputError, match="No space left on device"):
        update(cache=small / "cache")
    assert update().generation == first
    (small / "filler").unlink()
    assert update(cache=small / "cache").generation == first
    assert {path.name.rpartition("-")[0] for path in (small / "cache").iterdir()} == {COUNTRY, ASN}
