"""A store of weekly generations, each a release of the one before with some changed rows.

The store keeps all of them. The pointer is then written again: one generation came into force each
week, the last one now.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from benchmarks.data import changed
from benchmarks.data.generate import CSV
from benchmarks.harness.processes import Result, result_of
from geolookup.contract.gregorian import timestamp
from geolookup.store import pointer
from geolookup.store.pointer import Change

_CHILD = "benchmarks.past.child"


def make(recipe: Path, root: Path, weeks: int, share: float) -> tuple[Path, list[Result]]:
    """Publish the generations into a store; return it, and the measurements of each prune."""
    store = root / "store"
    prunes = []
    for week in range(weeks):
        if week:
            recipe = _next(recipe, root, share, week)
        dataset = root / f"dataset{week % 2}"
        shutil.rmtree(dataset, ignore_errors=True)
        result_of(_CHILD, "build", recipe, dataset)
        result_of(_CHILD, "publish", dataset, store)
        prunes.append(result_of(_CHILD, "prune", store, weeks))
    _spread(store)
    return store, prunes[2:]  # the newest two stay unpacked


def _next(recipe: Path, root: Path, share: float, week: int) -> Path:
    """Write the release of a week; remove the one before, but not the first."""
    folder = root / f"release{week % 2}"
    folder.mkdir(exist_ok=True)
    release = changed.write(recipe, folder, share, seed=week)
    if week > 1:
        recipe.with_name(CSV).unlink()
    return release


def _spread(store: Path) -> None:
    content = pointer.read(store)
    now = datetime.fromtimestamp(time.time(), UTC)
    content.changes = [
        Change(entry.generation, timestamp(now - timedelta(weeks=weeks)))
        for weeks, entry in enumerate(reversed(content.published))
    ][::-1]
    pointer.save(store, content)


def size_of(store: Path) -> dict[str, int]:
    """Return the bytes of archives, of the rows that changed, and of folders."""
    return {
        "archives": _bytes((store / pointer.ARCHIVE).iterdir()),
        "changes": _bytes((store / pointer.CHANGES).iterdir()),
        "folders": _bytes((store / pointer.GENERATIONS).rglob("*")),
    }


def _bytes(paths: Iterable[Path]) -> int:
    return sum(path.stat().st_size for path in paths if path.is_file())
