"""Selects the kernel: the compiled one if it is built, else the Python kernel.

``$GEOLOOKUP_KERNEL`` overrides this: ``python`` selects the Python kernel, ``compiled`` the
extension. ``protocol`` documents the interface of both. If nothing was selected and the
extension is missing, the log ``geolookup`` gets one warning. If what was selected does not
exist, ``check_kernel`` raises SettingsError; the import succeeds, so that a command can
report it.
"""

from __future__ import annotations

import os

from geolookup.errors import SettingsError

#: The warning for a missing extension, with the remedy; else empty.
MISSING = ""
#: What is wrong with ``$GEOLOOKUP_KERNEL``; else empty.
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


TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from geolookup.kernel import _compiled, python
    from geolookup.kernel.protocol import Implementation
    from geolookup.kernel.python import (
        Kernel,
        State,
        checksums,
        copy_texts,
        count_nodes,
        fill_nodes,
        find_addresses,
        gather,
        parse_texts,
        restored,
        split_log_lines,
    )

    _compiled_kernel: Implementation = _compiled
    _python_kernel: Implementation = python
else:
    _wanted = os.environ.get("GEOLOOKUP_KERNEL", "")
    if _wanted not in ("", "python", "compiled"):
        _PROBLEM = f"GEOLOOKUP_KERNEL is {_wanted!r}; write python or compiled, or unset it"
    try:
        from geolookup.kernel import _compiled as _chosen
    except ImportError as error:
        # It raises this itself if it was built for other fields than ``contract.fields`` has.
        _why = str(error) if "fields" in str(error) else "the compiled kernel is missing"
        if _wanted == "compiled":
            _PROBLEM = f"GEOLOOKUP_KERNEL is 'compiled', but {_why}; {_remedy()}"
        elif not _wanted:
            MISSING = f"{_why}: the Python kernel answers, several times slower; {_remedy()}"
        _wanted = "python"
    if _wanted == "python":
        from geolookup.kernel import python as _chosen
    Kernel, State = _chosen.Kernel, _chosen.State
    checksums, parse_texts = _chosen.checksums, _chosen.parse_texts
    gather, copy_texts = _chosen.gather, _chosen.copy_texts
    split_log_lines = _chosen.split_log_lines
    count_nodes, fill_nodes = _chosen.count_nodes, _chosen.fill_nodes
    find_addresses = _chosen.find_addresses
    restored = _chosen.restored

__all__ = [
    "MISSING",
    "Kernel",
    "State",
    "check_kernel",
    "checksums",
    "copy_texts",
    "count_nodes",
    "fill_nodes",
    "find_addresses",
    "gather",
    "parse_texts",
    "restored",
    "split_log_lines",
]

#: Warnings not yet logged in this process.
_notices = [MISSING] if MISSING else []


def check_kernel() -> None:
    """Raise SettingsError if ``$GEOLOOKUP_KERNEL`` names no kernel that exists.

    If the extension is missing and none is named, log a warning, once per process.
    """
    if _PROBLEM:
        raise SettingsError(_PROBLEM)
    try:
        notice = _notices.pop()  # one thread gets it
    except IndexError:
        return
    from logging import getLogger

    getLogger("geolookup").warning("%s", notice)
