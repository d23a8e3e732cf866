"""Selects the kernel: the compiled one if it is built, else the Python kernel.

``$GEOLOOKUP_KERNEL`` overrides this: ``python`` selects the Python kernel, ``compiled`` raises
ImportError if the extension is missing. ``protocol`` documents the interface of both. If the
extension is missing and nothing was selected, the log ``geolookup`` gets one warning.
"""

from __future__ import annotations

import os

#: The warning for a missing extension, with the remedy; else empty.
MISSING = ""
_NOTICE = (
    "the compiled kernel is missing: the Python kernel answers, several times slower; "
    "install a C compiler, then build geolookup again with "
    "'pip install --force-reinstall --no-binary geolookup geolookup', "
    "in a checkout with 'pip install -e .'"
)

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from geolookup.kernel import _compiled, python
    from geolookup.kernel.protocol import Implementation
    from geolookup.kernel.python import Kernel, State, parse_texts

    _compiled_kernel: Implementation = _compiled
    _python_kernel: Implementation = python
else:
    _wanted = os.environ.get("GEOLOOKUP_KERNEL", "")
    if _wanted not in ("", "python", "compiled"):
        raise ValueError(f"GEOLOOKUP_KERNEL is {_wanted!r}; write python or compiled, or unset it")
    try:
        from geolookup.kernel import _compiled as _chosen
    except ImportError:
        if _wanted == "compiled":
            raise
        if not _wanted:
            _wanted, MISSING = "python", _NOTICE
    if _wanted == "python":
        from geolookup.kernel import python as _chosen
    Kernel, State, parse_texts = _chosen.Kernel, _chosen.State, _chosen.parse_texts

__all__ = ["MISSING", "Kernel", "State", "parse_texts", "warn_if_missing"]

#: Warnings not yet logged in this process.
_notices = [MISSING] if MISSING else []


def warn_if_missing() -> None:
    """Log a warning if the extension is missing, once per process."""
    try:
        notice = _notices.pop()  # one thread gets it
    except IndexError:
        return
    from logging import getLogger

    getLogger("geolookup").warning("%s", notice)
