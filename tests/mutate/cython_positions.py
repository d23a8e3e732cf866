"""Where the Cython sources of the kernel can be changed: by their text, as no library parses them.

The sources are formatted: an operator has a blank at either side, casts and pointers have none.
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
_REPLACED = {
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
_CHANGED = re.compile("|".join(map(re.escape, _REPLACED)) + r"|(?<![\w.])\d+(?![\w.])")


def positions(root: Path, file: str) -> Iterator[Position]:
    """Yield the positions in a ``.pyx`` or ``.pxi`` file, in the order of its text."""
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
        if declares:  # a signature may go on in the lines that follow
            open_brackets += code.count("(") - code.count(")")
            continue
        for change in _CHANGED.finditer(code):
            text = change[0]
            new = _REPLACED[text] if text in _REPLACED else str(int(text) + 1)
            changed = _changed(lines, at, change, new)
            name_of = f"{text.strip()} to {new.strip()}" if text in _REPLACED else "NumberReplacer"
            yield Position(file, function, name_of, at + 1, source, changed)


def _changed(lines: list[str], at: int, change: re.Match[str], new: str) -> Callable[[], str]:
    def mutated() -> str:
        line = lines[at][: change.start()] + new + lines[at][change.end() :]
        return "".join((*lines[:at], line, *lines[at + 1 :]))

    return mutated
