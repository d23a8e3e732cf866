"""The positions in Cython sources that a mutant changes, by patterns: parso cannot parse Cython.

The sources are formatted: operators have a space on both sides, casts and pointers have none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.mutate.mutant import Position

_FUNCTION = re.compile(r"^\s*(?:cdef|cpdef|def|class)\b[^=]*?(\w+)\s*[(:]")
_DECLARATION = re.compile(
    r"^\s*(cdef(?!.* = )|cpdef|def |class |ctypedef|include|cimport|from |import |@)"
)
_MEMBER = re.compile(r"^ +\w[\w ]*\*? \w+(\[\d+\])?\s*$")  # of a struct
_TEXT = re.compile(r'"(?:[^"\\]|\\.)*"|#.*')
_REPLACEMENTS = {
    " < ": " <= ",
    " <= ": " < ",
    " > ": " >= ",
    " >= ": " > ",
    " == ": " != ",
    " != ": " == ",
    " and ": " or ",
    " or ": " and ",
    " + ": " - ",
    " - ": " + ",
    " += ": " -= ",
    " & ": " | ",
    " | ": " & ",
    " << ": " >> ",
    " >> ": " << ",
    " not ": " ",
    "True": "False",
    "False": "True",
    "break": "continue",
}
_CHANGEABLE = re.compile("|".join(map(re.escape, _REPLACEMENTS)) + r"|(?<![\w.])\d+(?![\w.])")


def positions(root: Path, file: str) -> Iterator[Position]:
    """Yield the positions in a file of Cython, in the order of its text."""
    source = (root / file).read_text(encoding="utf-8")
    lines = source.splitlines(keepends=True)
    function, quoted, open_brackets = "<module>", False, 0
    for at, line in enumerate(lines):
        quoted ^= line.count('"""') % 2 == 1
        if quoted or '"""' in line:
            continue
        code = _TEXT.sub(lambda text: " " * len(text[0]), line)
        declares = open_brackets > 0 or bool(_DECLARATION.match(code) or _MEMBER.match(code))
        if name := _FUNCTION.match(code):
            function = name[1]
        if declares:  # a signature can continue on the next lines
            open_brackets += code.count("(") - code.count(")")
            continue
        for change in _CHANGEABLE.finditer(code):
            text = change[0]
            if text in _REPLACEMENTS:
                new = _REPLACEMENTS[text]
                operator = f"{text.strip()} to {new.strip()}"
            else:
                new, operator = str(int(text) + 1), "NumberReplacer"
            changed_source = _change(lines, at, change, new)
            yield Position(file, function, operator, at + 1, source, changed_source)


def _change(lines: list[str], at: int, change: re.Match[str], new: str) -> Callable[[], str]:
    def changed_source() -> str:
        line = lines[at][: change.start()] + new + lines[at][change.end() :]
        return "".join((*lines[:at], line, *lines[at + 1 :]))

    return changed_source
