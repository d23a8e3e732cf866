"""Texts that lead a pattern of ``re`` to its repeats, and repeat a word there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from re import _constants as ops  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

_WORD, _SPACE, _DIGIT = (re.compile(text) for text in (r"\w", r"\s", r"\d"))
_CATEGORIES = {
    ops.CATEGORY_DIGIT: (_DIGIT, True),
    ops.CATEGORY_NOT_DIGIT: (_DIGIT, False),
    ops.CATEGORY_SPACE: (_SPACE, True),
    ops.CATEGORY_NOT_SPACE: (_SPACE, False),
    ops.CATEGORY_WORD: (_WORD, True),
    ops.CATEGORY_NOT_WORD: (_WORD, False),
}


def texts(pattern: re.Pattern[Any], longest: int, most: int) -> Iterator[tuple[str, str, str]]:
    """Yield beginnings, words to repeat and ends that lead a pattern to its repeats.

    ``longest`` is the greatest length of a word, ``most`` the number of characters that are tried,
    of those that the pattern treats differently.
    """
    tree, letters = _parse(pattern), _alphabet(pattern, most)
    for opening in dict.fromkeys(_openings(list(tree), "")):
        for length in range(1, longest + 1):
            for word in product(letters, repeat=length):
                for end in ("", *(letters if length == 1 else "\0")):
                    yield opening, "".join(word), end


@lru_cache
def _parse(pattern: re.Pattern[Any]) -> Any:
    source = pattern.pattern
    # Bytes as Latin-1: a character for each byte.
    source = source.decode("latin-1") if isinstance(source, bytes) else source
    return parser.parse(source, pattern.flags & ~re.ASCII & ~re.UNICODE)


def _alphabet(pattern: re.Pattern[Any], most: int) -> list[str]:
    """Return characters that a pattern treats differently: one of each set, and some literals.

    Those of repeats come first: a repeat behind a long word is tried too.
    """
    tree = _parse(pattern)
    letters = dict.fromkeys([*_repeated_letters(tree), *_letters(tree)])
    return [*list(letters)[:most], *(item for item in "\0a " if item not in letters)]


def _repeated_letters(node: Any) -> Iterator[str]:
    for operation, argument in node:
        for body in _bodies(operation, argument):
            yield from (_letters if operation in _REPEATS else _repeated_letters)(body)


def _letters(node: Any) -> Iterator[str]:
    for operation, argument in node:
        if operation in (ops.LITERAL, ops.NOT_LITERAL):
            yield chr(argument)
        elif operation is ops.RANGE:
            yield chr(argument[0])
        elif operation is ops.CATEGORY:
            yield _SAMPLES.get(argument, "a")
        elif operation is ops.IN:
            yield from _letters(argument)
        else:
            for body in _bodies(operation, argument):
                yield from _letters(body)


def _bodies(operation: Any, argument: Any) -> list[Any]:
    """Return the patterns inside an operation."""
    if operation is ops.BRANCH:
        return list(argument[1])
    if operation in (ops.SUBPATTERN, ops.ASSERT, ops.ASSERT_NOT, *_REPEATS):
        return [argument[-1]]
    return []


def _openings(items: list[Any], before: str) -> Iterator[str]:
    """Yield a text that leads to each repeat."""
    for operation, argument in items:
        if operation in _REPEATS:
            yield before
        for body in _bodies(operation, argument):
            yield from _openings(list(body), before)
        before += _example(operation, argument)


def _example(operation: Any, argument: Any) -> str:
    """Return a short text that an operation matches."""
    if operation is ops.LITERAL:
        return chr(argument)
    if operation is ops.IN:
        return next((item for item in _CANDIDATES if _is_in(argument, item)), "")
    if operation in (ops.ANY, ops.NOT_LITERAL):
        return "a"
    if operation in (ops.ASSERT, ops.ASSERT_NOT):
        return ""
    times = argument[0] if operation in _REPEATS else 1
    bodies = _bodies(operation, argument)
    return "".join(_example(*item) for item in bodies[0]) * times if bodies else ""


def _is_in(members: Any, character: str) -> bool:
    negated = members[0][0] is ops.NEGATE
    return negated is not any(_is_member(member, character) for member in members[negated:])


def _is_member(member: Any, character: str) -> bool:
    kind, argument = member
    if kind is ops.LITERAL:
        return bool(ord(character[0]) == argument)
    if kind is ops.RANGE:
        return bool(argument[0] <= ord(character[0]) <= argument[1])
    category, expected = _CATEGORIES[argument]
    return (category.match(character) is not None) is expected


_REPEATS = (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT)
_SAMPLES = {ops.CATEGORY_SPACE: " ", ops.CATEGORY_DIGIT: "0", ops.CATEGORY_NOT_WORD: "-"}
_CANDIDATES = [*map(chr, range(0x30, 0x7F)), *map(chr, range(0x30)), *map(chr, range(0x80, 0x100))]
