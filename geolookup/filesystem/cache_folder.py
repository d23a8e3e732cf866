"""The cache folder of the user: downloads, compiled overlays, datasets of workers."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from geolookup.errors import OutputError


def default_folder() -> Path:
    """Return GEOLOOKUP_CACHE, else the user's cache folder of the system.

    Raises OutputError if that is in an unknown home folder.
    """
    if folder := os.environ.get("GEOLOOKUP_CACHE"):
        return Path(folder)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or _home()) / "geolookup" / "cache"
    if sys.platform == "darwin":
        return _home() / "Library" / "Caches" / "geolookup"
    return Path(os.environ.get("XDG_CACHE_HOME") or _home() / ".cache") / "geolookup"


def latest_first(folder: Path) -> list[Path]:
    """Return the folders in a folder, the last changed first; none if it cannot be read."""
    try:
        folders = [entry for entry in os.scandir(folder) if entry.is_dir(follow_symlinks=False)]
        dated = [(entry.stat().st_mtime_ns, entry.path) for entry in folders]
    except OSError:
        return []
    return [Path(path) for _, path in sorted(dated, reverse=True)]


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError as error:  # neither HOME nor an entry of the user
        problem = "the home folder is not known"
        raise OutputError("~", problem, "name a cache with --cache or $GEOLOOKUP_CACHE") from error
