"""The user's store: where ``geolookup update`` publishes and ``geolookup.open()`` looks."""

from __future__ import annotations

import os
import sys

from geolookup.store import pointer

ENVIRONMENT = "GEOLOOKUP_STORE"


def place() -> str:
    """Return ``$GEOLOOKUP_STORE``, else the folder ``store`` in the user's data folder.

    The data folder is that of the platform; on Linux, of the XDG Base Directory Specification.
    """
    if named := os.environ.get(ENVIRONMENT):
        return os.path.abspath(named)
    return os.path.join(_data_folder(), "geolookup", "store")


def _data_folder() -> str:
    home = os.path.expanduser("~")
    if sys.platform == "win32":
        return os.environ.get("LOCALAPPDATA") or home
    if sys.platform == "darwin":
        return os.path.join(home, "Library", "Application Support")
    stated = os.environ.get("XDG_DATA_HOME", "")
    # The specification: "consider the path invalid and ignore it" if it is relative.
    return stated if os.path.isabs(stated) else os.path.join(home, ".local", "share")


def current() -> str | None:
    """Return the path of the user's store if it has a generation, damaged or not.

    A data folder that may not be entered holds no store: services often hide home folders.
    """
    store = place()
    try:
        os.stat(os.path.join(store, pointer.CURRENT))
    except PermissionError:
        return store if os.environ.get(ENVIRONMENT) else None
    except (OSError, ValueError):  # ValueError: not a path at all
        return None
    return store
