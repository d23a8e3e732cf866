"""Updates that are killed or find the disk full: the store keeps the old or the new generation."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import geolookup
from geolookup.errors import OutputError
from tests.conftest import ROOT
from tests.corrupt.test_full_disk import small as small  # noqa: PLC0414 - a fixture
from tests.store.dying import Kind
from tests.updates.conftest import COUNTRY, Publisher, Update, countries, environment, is_tidy

_NO_END = 100_000
#: The points of an update at which it is killed, and refused by the disk.
POINTS = 3
_ENDING = """
import sys, geolookup
from tests.store.dying import arm
update = geolookup.update  # imports what an update needs
left = arm(sys.argv[1], int(sys.argv[2]))
update(sys.argv[3])
sys.stdout.write(str(left()))
"""


def process(kind: Kind, step: int, recipe: Path) -> subprocess.CompletedProcess[str]:
    """An update that is killed, or refused by the disk, before a step; it prints the steps left."""
    command = [sys.executable, "-c", _ENDING, kind, str(step), str(recipe)]
    # Else the first one in a fresh checkout has more steps: it writes the bytecode.
    env = environment() | {"PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)


@pytest.mark.long
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL on this system")
@pytest.mark.parametrize("kind", ["kill", "fault"])
def test_at_any_step(
    kind: Kind, update: Update, publisher: Publisher, store: Path, tmp_path: Path
) -> None:
    """From none to one, and to the next; the next update repairs whatever is left."""
    for step in (30, 60):
        assert process("kill", step, publisher.recipe).returncode == -signal.SIGKILL
    old = update().generation
    assert is_tidy(store)
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
        else:  # what cannot be removed stays
            assert done.returncode == 0 or "OutputError" in done.stderr
        with geolookup.open() as engine:
            assert engine.generation in (old, new.generation)
            geolookup.verify(engine.path)
        assert update().generation == new.generation
        assert is_tidy(store)


def test_files_that_cannot_be_written(update: Update, store: Path, tmp_path: Path) -> None:
    """After the publication it is told and changes no exit status; the cache is not the store."""
    update()
    (store / "update.json").unlink()
    (store / "update.json").mkdir()
    done = update()
    assert done.state == "unchanged"
    (problem,) = done.warnings
    assert problem.startswith(f"--if-older will not know of this update: {store}/update.json: ")
    for lock in (tmp_path / "cache").glob("*/lock"):
        lock.unlink()
        lock.mkdir()
    with pytest.raises(OutputError) as caught:
        update()
    assert Path(caught.value.path).parent == tmp_path / "cache"
