"""Selects the kernel: the compiled one if it is built, else the Python kernel.

``$GEOLOOKUP_KERNEL`` overrides this: ``python`` selects the Python kernel, ``compiled`` the
extension module. The Python kernel documents the interface of both. If nothing was selected and the
extension is missing, or if it is older than its sources in a checkout, the log ``geolookup`` gets
one warning. If the selected kernel does not exist, ``check_kernel`` raises SettingsError; the
import succeeds, and a command can report it.
"""

from __future__ import annotations

import os

from geolookup.errors import SettingsError
from geolookup.kernel.lookups import texts

#: The warning for a missing or an old extension, with the remedy; else empty.
NOTICE = ""
#: The problem with ``$GEOLOOKUP_KERNEL``; else empty.
_PROBLEM = ""


def _remedy() -> str:
    """Return how to get the extension; Python prefers the sources of the folder that it runs in."""
    from pathlib import Path  # here: it costs a cold start 5 ms

    folder = Path(__file__).absolute().parents[2]
    if (folder / "setup.py").exists():
        return (
            f"these are the sources in {folder}: run Python in another folder if geolookup is"
            " installed, else install a C compiler and run 'pip install -e .' in that folder"
        )
    return (
        "install a C compiler, then build geolookup again with "
        "'pip install --force-reinstall --no-binary geolookup geolookup'"
    )


def _reason(error: ImportError) -> tuple[str, str]:
    """Return why the compiled kernel cannot be imported, and the remedy."""
    if isinstance(error, ModuleNotFoundError):
        return "the compiled kernel is missing", _remedy()
    # Its objects belong to the first interpreter that imports it: CPython and Cython refuse more.
    if "interpreter" in str(error):
        problem = "the compiled kernel answers in one interpreter of a process only"
        return problem, "use threads or processes, or set GEOLOOKUP_KERNEL=python"
    return str(error), _remedy()


def _is_older_than_sources(extension: str) -> bool:
    """Return whether the extension module is older than a source of the kernel beside it.

    Only a checkout has sources beside it: an installed package needs one look for a file.
    """
    folder = os.path.dirname(extension)
    if not os.path.exists(os.path.join(folder, "_compiled.pyx")):
        return False
    sources = (file for file in os.scandir(folder) if file.name.endswith(_SOURCES))
    return max(file.stat().st_mtime for file in sources) > os.stat(extension).st_mtime


_SOURCES = (".pyx", ".pxi", ".h")
TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from geolookup.kernel.lookups import Lookups as Kernel
    from geolookup.kernel.python import (
        State,
        find_addresses,
        gather,
        parse_texts,
        period,
        restore,
    )
else:
    _choice = os.environ.get("GEOLOOKUP_KERNEL", "")
    if _choice not in ("", "python", "compiled"):
        _PROBLEM = f"GEOLOOKUP_KERNEL is {_choice!r}; write python or compiled, or unset it"
    try:
        import geolookup.kernel._compiled as _chosen
    except ImportError as error:
        if _choice != "python":
            _why, _cure = _reason(error)
        if _choice == "compiled":
            _PROBLEM = f"GEOLOOKUP_KERNEL is 'compiled', but {_why}; {_cure}"
        elif not _choice:
            NOTICE = f"{_why}: the Python kernel answers, several times slower; {_cure}"
        _choice = "python"
    else:
        if _choice != "python" and _is_older_than_sources(_chosen.__file__):
            NOTICE = (
                f"the compiled kernel is older than its sources in {os.path.dirname(__file__)}:"
                " run 'python setup.py build_ext --inplace' in the checkout"
            )
    if _choice == "python":
        from geolookup.kernel import python as _chosen
    Kernel, State = _chosen.Kernel, _chosen.State
    _chosen.document(texts())

    def __getattr__(name: str) -> object:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(_chosen, name)


__all__ = [
    "Kernel",
    "State",
    "check_kernel",
    "find_addresses",
    "gather",
    "parse_texts",
    "period",
    "restore",
]

#: Warnings not yet logged in this process.
_notices = [NOTICE] if NOTICE else []


def check_kernel() -> None:
    """Raise SettingsError if ``$GEOLOOKUP_KERNEL`` names no kernel that exists.

    Log a warning, once per process, if the extension is older than its sources, or if it is missing
    and no kernel is named.
    """
    if _PROBLEM:
        raise SettingsError(_PROBLEM)
    try:
        notice = _notices.pop()  # one thread gets it
    except IndexError:
        return
    from logging import getLogger

    getLogger("geolookup").warning("%s", notice)
