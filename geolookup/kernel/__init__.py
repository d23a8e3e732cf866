"""Which kernel answers lookups: the compiled one where it was built, else its Python twin.

``$GEOLOOKUP_KERNEL`` decides otherwise: ``python`` takes the twin,
``compiled`` refuses to go on without the extension.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from geolookup.kernel.python import Kernel, State, parse_texts
else:
    _wanted = os.environ.get("GEOLOOKUP_KERNEL", "")
    if _wanted not in ("", "python", "compiled"):
        raise ValueError(f"GEOLOOKUP_KERNEL is {_wanted!r}; write python or compiled, or unset it")
    try:
        from geolookup.kernel import _compiled as _chosen
    except ImportError:
        if _wanted == "compiled":
            raise
        _wanted = "python"
    if _wanted == "python":
        from geolookup.kernel import python as _chosen
    Kernel, State, parse_texts = _chosen.Kernel, _chosen.State, _chosen.parse_texts

__all__ = ["Kernel", "State", "parse_texts"]
