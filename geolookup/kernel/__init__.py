"""Which kernel answers lookups: the compiled one where it was built, else the Python one.

``$GEOLOOKUP_KERNEL`` overrides this: ``python`` takes the Python kernel, ``compiled`` raises
ImportError where the extension is missing. ``protocol`` says what both offer.
"""

from __future__ import annotations

import os

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
        _wanted = "python"
    if _wanted == "python":
        from geolookup.kernel import python as _chosen
    Kernel, State, parse_texts = _chosen.Kernel, _chosen.State, _chosen.parse_texts

__all__ = ["Kernel", "State", "parse_texts"]
