"""When a store was last updated, or found to be current: for ``--if-older``.

The file is STORE/update.json. It names the dataset, so that an update by another recipe does
not count.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from geolookup.filesystem import atomic

_FILE = "update.json"


def within(store: Path, dataset: str, limit: timedelta) -> bool:
    """Return whether an update of this dataset succeeded less than ``limit`` ago.

    False for a time in the future: after a clock was wrong, updates must not stop. False also
    without a readable record: it costs an update.
    """
    try:
        stated = json.loads((store / _FILE).read_bytes())
        checked = datetime.fromisoformat(stated["checked"])
        passed = datetime.now(UTC) - checked
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return False
    return stated.get("dataset") == dataset and timedelta(0) <= passed < limit


def record(store: Path, staging: Path, dataset: str) -> None:
    """Record that an update succeeded now; written in ``staging``, then renamed."""
    stated = {"dataset": dataset, "checked": datetime.now(UTC).isoformat(timespec="seconds")}
    fresh = staging / _FILE
    with atomic.output_errors(store / _FILE):
        fresh.write_text(json.dumps(stated) + "\n", encoding="utf-8")
        atomic.fsync_file(fresh)
        fresh.replace(store / _FILE)
        atomic.fsync_folder(store)
