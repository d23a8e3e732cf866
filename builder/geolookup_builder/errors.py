"""What stops a build: one line with file, line, problem and remedy."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from os import PathLike, fspath

#: What a terminal acts on, and what ends a line: names in archives and keys may hold any of it.
_CONTROLS = (*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029)
_ESCAPED = {each: ascii(chr(each))[1:-1] for each in _CONTROLS}


class BuildError(Exception):
    """Bad input of a build (recipe, source, table); the CLI prints it and exits 2.

    ``line`` counts from 1 in the file named by ``path``; ``None`` where no line applies.
    In the text, control characters are escaped.
    """

    def __init__(
        self,
        path: str | PathLike[str],
        problem: str,
        *,
        line: int | None = None,
        remedy: str | None = None,
    ) -> None:
        self.path = fspath(path)
        self.line = line
        self.problem = problem
        self.remedy = remedy
        place = self.path if line is None else f"{self.path}:{line}"
        text = f"{place}: {problem}" + (f"; {remedy}" if remedy else "")
        super().__init__(text.translate(_ESCAPED))


def near_match(word: str, words: Iterable[str]) -> str:
    """Return ``did you mean 'x'?`` for a misspelt word, else the list of the legal ones."""
    known = list(words)
    close = get_close_matches(word, known, n=1)
    return f"did you mean {close[0]!r}?" if close else f"known are {', '.join(known)}"
