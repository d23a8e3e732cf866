"""Arrow in a command: it starts without pandas.

Arrow imports pandas, if it is installed, when it converts its first Python value. That takes 0.15
s, and no command uses pandas. Arrow remembers that it found none.
"""

from __future__ import annotations

import sys
from typing import Any


class _WithoutPandas:
    """A finder of modules that hides pandas."""

    def find_spec(self, fullname: str, _path: object, _target: object = None) -> None:
        if fullname == "pandas":
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)


def start_without_pandas() -> None:
    """Import Arrow, unless pandas is imported already, and convert a value."""
    if "pandas" in sys.modules:
        return
    finder: Any = _WithoutPandas()
    sys.meta_path.insert(0, finder)
    try:
        import pyarrow as pa

        pa.array([0])
    finally:
        sys.meta_path.remove(finder)
