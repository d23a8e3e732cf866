"""The changes between generations as rows, kept beside the deltas.

::

    STORE/history/OLD-NEW.parquet    OLD, NEW: the first 16 digits of each generation

A file is a table of changes (``comparison.change_files``). Its metadata has both full ids.
"""

from __future__ import annotations

from pathlib import Path

from geolookup.store import pointer

_DIGITS = 16


def table_path(store: Path, old: str, new: str) -> Path:
    """Return the file of the changes from one generation to another, existing or not."""
    return store / pointer.HISTORY / f"{old[:_DIGITS]}-{new[:_DIGITS]}.parquet"
