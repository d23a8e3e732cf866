"""The paths of datasets and stores that have a name: the default, the bundled dataset, the user's.

``geolookup update`` publishes into the user's store, and it is the default dataset from then on.
"""

from __future__ import annotations

import os
import sys

from geolookup.store import pointer

#: The name of the bundled dataset in every command and call; a folder of that name is ./bundled.
BUNDLED_NAME = "bundled"
#: The folder of the bundled dataset.
BUNDLED = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "world")
DATASET_VARIABLE, STORE_VARIABLE = "GEOLOOKUP_DATASET", "GEOLOOKUP_STORE"


def dataset_path(path: str | os.PathLike[str] | None) -> str:
    """Return the path of a dataset or store that a user names.

    None is ``$GEOLOOKUP_DATASET``, else the user's store if it has a generation, else the bundled
    dataset. The text ``bundled`` is the bundled dataset.
    """
    if path is None:
        path = os.environ.get(DATASET_VARIABLE) or current_user_store() or BUNDLED
    # A Path is never the name: Path("./bundled") has the text "bundled".
    return BUNDLED if path == BUNDLED_NAME else os.fspath(path)


def user_store() -> str:
    """Return the path of the user's store: ``$GEOLOOKUP_STORE``, else one in the data folder.

    That is the platform's folder for data of the user; on Linux, of the XDG Base Directory
    Specification.
    """
    if path := os.environ.get(STORE_VARIABLE):
        return os.path.abspath(path)
    return os.path.join(data_folder(), "geolookup", "store")


def data_folder() -> str:
    """Return the folder of the user's data by the rules of the system."""
    home = os.path.expanduser("~")
    if sys.platform == "win32":
        return os.environ.get("LOCALAPPDATA") or home
    if sys.platform == "darwin":
        return os.path.join(home, "Library", "Application Support")
    folder = os.environ.get("XDG_DATA_HOME", "")
    # The specification: "consider the path invalid and ignore it" if it is relative.
    return folder if os.path.isabs(folder) else os.path.join(home, ".local", "share")


def current_user_store() -> str | None:
    """Return the path of the user's store if it has a generation, damaged or not.

    A data folder that may not be entered holds no store: services often hide home folders.
    """
    store = user_store()
    try:
        os.stat(os.path.join(store, pointer.CURRENT))
    except PermissionError:
        return store if os.environ.get(STORE_VARIABLE) else None
    except (OSError, ValueError):  # ValueError: not a path at all
        return None
    return store
