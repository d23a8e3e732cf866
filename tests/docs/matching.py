"""Whether what is printed is what a page shows."""

from __future__ import annotations

import re


def matches(shown: str, printed: str) -> bool:
    """Whether an output is what is shown.

    An ellipsis stands for the rest of a line or a part of it; one that is alone on its line, for
    any number of lines.
    """
    pattern = "".join(map(_pattern, shown.rstrip().splitlines()))
    return re.fullmatch(pattern, f"{printed.rstrip()}\n" if printed.strip() else "") is not None


def _pattern(line: str) -> str:
    if line.strip() == "…":
        return r"(?:.*\n)*?"
    return "[^\n]*".join(re.escape(part) for part in line.rstrip().split("…")) + " *\n"
