"""The steps that a backtracking engine takes for a pattern of ``re``: no clock is read.

``re`` has no limit of time and no count of steps. This matcher follows the parsed pattern as ``re``
does: alternatives from left to right, repeats greedy or lazy, and back to the last choice if the
others fail. Optimizations of ``re`` save a factor, not a power.
"""

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


#: A linear pattern takes a part of it for the longest text of the tests.
_MOST = 300_000


class TooManyError(Exception):
    """The pattern takes too many steps: their number may be exponential."""


class Steps:
    """Matches one text, and counts the characters and choices that are tried."""

    def __init__(self, pattern: re.Pattern[Any], text: str) -> None:
        self._flags = pattern.flags
        self._items = list(_parse(pattern))
        self._text = text
        self.count = 0

    def run(self, *, whole: bool, anywhere: bool) -> int:
        """Return the steps of a match; ``anywhere`` of all matches, as ``findall`` has them."""
        at = 0
        while at <= len(self._text):
            end = next(
                (
                    end
                    for end in self._sequence(self._items, 0, at)
                    if not whole or end == len(self._text)
                ),
                None,
            )
            if not anywhere:
                break
            at = at + 1 if end is None or end == at else end
        return self.count

    def _sequence(self, items: list[Any], first: int, at: int) -> Iterator[int]:
        while first < len(items):  # single characters need no choice
            operation, argument = items[first]
            if operation not in _SINGLE:
                break
            self.count += 1
            if at >= len(self._text) or not self._accepts(operation, argument, self._text[at]):
                return
            first, at = first + 1, at + 1
        if first == len(items):
            yield at
            return
        for end in self._item(items[first], at):
            yield from self._sequence(items, first + 1, end)

    def _item(self, item: Any, at: int) -> Iterator[int]:
        operation, argument = item
        self.count += 1
        if self.count > _MOST:
            raise TooManyError
        if operation is ops.AT:
            yield from [at] if self._is_at(argument, at) else []
        elif operation in (ops.BRANCH, ops.SUBPATTERN):
            for body in _bodies(operation, argument):
                yield from self._sequence(list(body), 0, at)
        elif operation in (ops.MAX_REPEAT, ops.MIN_REPEAT):
            yield from self._repeat(operation, argument, at)
        elif operation is ops.GROUPREF:  # of ours, the separator of a date
            yield from (at, at + 1)
        elif operation is ops.POSSESSIVE_REPEAT:
            yield from [*self._repeat(ops.MAX_REPEAT, argument, at)][:1]
        elif operation in (ops.ASSERT, ops.ASSERT_NOT):
            if self._looks(argument, at) is (operation is ops.ASSERT):
                yield at
        else:
            raise NotImplementedError(operation)

    def _looks(self, argument: Any, at: int) -> bool:
        direction, body = argument
        start = at - body.getwidth()[0] if direction < 0 else at
        return start >= 0 and next(self._sequence(list(body), 0, start), None) is not None

    def _repeat(self, operation: Any, argument: Any, at: int) -> Iterator[int]:
        least, most, body = argument
        items = list(body)
        if len(items) == 1 and items[0][0] in _SINGLE:
            ends = self._singles(items[0], least, most, at)
        else:
            ends = self._groups(items, least, most, at)
        yield from ends if operation is ops.MIN_REPEAT else reversed(list(ends))

    def _singles(self, item: Any, least: int, most: int, at: int) -> Iterator[int]:
        """Yield the ends of a repeated character, the shortest first."""
        operation, argument = item
        count = 0
        while True:
            if count >= least:
                yield at
            if count == most or at >= len(self._text):
                return
            self.count += 1
            if not self._accepts(operation, argument, self._text[at]):
                return
            count, at = count + 1, at + 1

    def _groups(self, items: list[Any], least: int, most: int, at: int) -> Iterator[int]:
        """Yield the ends of a repeated group, the fewest first, in no more than one way each."""
        ends, count = [at], 0
        while ends:
            if count >= least:
                yield from ends
            if count == most:
                return
            # An iteration that matches nothing ends the repeat, as in ``re``.
            ends = [after for end in ends for after in self._sequence(items, 0, end) if after > end]
            count += 1

    def _accepts(self, operation: Any, argument: Any, character: str) -> bool:
        if operation is ops.ANY:
            return bool(self._flags & re.DOTALL) or character != "\n"
        if operation is ops.IN:
            forms = {character, character.lower(), character.upper()}
            return any(
                _is_in(argument, form)
                for form in (forms if self._flags & re.IGNORECASE else {character})
            )
        same = ord(character) == argument or (
            bool(self._flags & re.IGNORECASE) and character.lower() == chr(argument).lower()
        )
        return same is (operation is ops.LITERAL)

    def _is_at(self, where: Any, at: int) -> bool:
        text, multiline = self._text, bool(self._flags & re.MULTILINE)
        if where in (ops.AT_BEGINNING, ops.AT_BEGINNING_STRING):
            is_line = multiline and where is ops.AT_BEGINNING and text[at - 1 : at] == "\n"
            return at == 0 or is_line
        if where is ops.AT_END_STRING:
            return at == len(text)
        if where is ops.AT_END:
            return at >= len(text) or text[at:] == "\n" or (multiline and text[at] == "\n")
        around = [bool(_WORD.match(text[side : side + 1])) for side in (at - 1, at) if side >= 0]
        is_boundary = (around[0] if at else False) is not around[-1]
        return is_boundary is (where is ops.AT_BOUNDARY)


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


_SINGLE = (ops.LITERAL, ops.NOT_LITERAL, ops.IN, ops.ANY)


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


_REPEATS = (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT)
_SAMPLES = {ops.CATEGORY_SPACE: " ", ops.CATEGORY_DIGIT: "0", ops.CATEGORY_NOT_WORD: "-"}
_CANDIDATES = [*map(chr, range(0x30, 0x7F)), *map(chr, range(0x30)), *map(chr, range(0x80, 0x100))]
