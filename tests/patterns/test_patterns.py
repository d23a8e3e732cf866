"""No pattern takes more than linear time for a text from outside.

Texts are long enough that quadratic time is hundreds of times the linear. A timer of the process's
own CPU time, which other load does not change, interrupts a match that takes so long.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from itertools import chain
from typing import Any

import pytest

from tests.patterns.finding import UsedPattern, assembled, constants, literals, of_dates
from tests.patterns.texts import texts
from tests.skips import needs
from tests.tiers import scaled

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer of CPU time"),
]

#: Characters of a text. A linear match takes 25 ms of them at most, a quadratic one 1.5 s and more.
_LENGTH = 60_000
_SECONDS = 0.3

#: Patterns whose time grows faster, but not with a text from outside.
_BOUNDED = {
    "geolookup.cli.answer_formats._TOKEN": "text of json.dumps: each quote is closed",
    "geolookup.pictures.charts._TAGS": "a drawing of ours: each tag is closed",
}

_CELL = r'(?:"(?:[^"]++|"")*+"[^,\r\n]*+|[^",\r\n][^,\r\n]*+|)'
_NETWORK = "([0-9]+\\.[0-9.]+|[0-9A-Fa-f]*:[0-9A-Fa-f:.]*)(/[0-9]+)?"
#: Functions that put a pattern together or are given one: samples, and whether a text is searched.
#: Without a sample, the patterns are constants, or stand in a table of ours and match a word.
_ASSEMBLED: dict[str, list[tuple[str, bool]]] = {
    "geolookup.export.outputs._is_written_by": [],
    "geolookup.files.text_blocks._patterns": [
        (rf"(?:{_CELL}(?:,{_CELL})*+(?:\n|\r\n|\r(?=[^\n])))*+", False),
        (r'(?:(?<=[\r\n,])|\A)"(?:[^"]++|"")*+(")?', True),
    ],
    "geolookup.filesystem.signatures._first": [
        (r"(?:[^\0]\0{3}){4}|(?:\0{3}[^\0]){4}", False),
        (r"(?:[^\0]\0){4}|(?:\0[^\0]){4}", False),
    ],
    "geolookup.http.settings._variable": [
        (r"[1-9]\d{,8}", False),
        (r"\d{1,8}(\.\d+)?", False),
    ],
    "geolookup.http.settings.value": [],
    "geolookup.integrations.redaction._without": [
        (r"(?<![0-9A-Fa-f])(?:2001:db8:0:0::1|2001:db8::1|192\.0\.2\.1)(?![0-9A-Fa-f])", True),
    ],
    "geolookup.prefixes.list_text.checked_names": [],
    "geolookup.remote.key.__init__": [
        (r"(?:\\?[a]|%61)(?:\\?[/_]|%2f)(?:\\?[ \+]|%20)|(?:\\?[a]|%61)(?:\\?[a]|%61)", True),
    ],
    "geolookup_builder.limits._written": [
        (r"'[+-]?\d+,\d+' is not a (finite )?number", True),
        (r"latitude '[+-]?(9\d|1[0-7]\d)(\.\d*)?' is not", True),
    ],
    "geolookup_builder.memory._stated": [],
    "geolookup_builder.reference.countries._value": [],
    "geolookup_builder.sources.formats.lists._begins": [
        (r"2(\.[0-9]+)?\|[a-z]+\||[a-z]+\|[^|]*\|(asn|ipv4|ipv6)\|", False),
        (r"[0-9A-Fa-f]*[.:][0-9A-Fa-f.:]*[\t/][^\t/]*\t[^\t]*", False),
    ],
    "geolookup_builder.sources.formats.lists.detect": [
        (rf"\s*{_NETWORK}(\s*#.*|\s+;.*|\s*)", False),
        (rf'\s*"?{_NETWORK}"?\s*,\s*(("?[A-Za-z]{{2}}"?|"{{1,2}})\s*)?(,\s*([,#].*)?|#.*)?', False),
        (r"[0-9A-Fa-f]*[.:][0-9A-Fa-f.:]*[\t/][0-9]+\t[0-9{][0-9_,{}]*", False),
    ],
    "geolookup_builder.sources.formats.lists.read": [],
    "geolookup_builder.sources.formats.mmdb_products.matching_product": [],
    "geolookup_builder.sources.reading.reader.in_first_lines": [],
    "geolookup_builder.sources.reading.text.line_layout": [
        (r"(?m)^(?:\xef\xbb\xbf)?(?:[ \t]*#|[ \t\v\f]+\r?$)[^\n]*\n?", True),
    ],
    "geolookup_builder.values._compact": [],
}


def samples() -> Iterator[UsedPattern]:
    for name, patterns in _ASSEMBLED.items():
        for pattern, is_searched in patterns:
            yield UsedPattern(name, re.compile(pattern), is_searched)


def test_each_function_that_puts_a_pattern_together_is_listed() -> None:
    assert assembled() == _ASSEMBLED.keys()


class _TooLongError(Exception):
    """A match took more than linear time."""


def _interrupt(_number: int, _frame: object) -> None:
    raise _TooLongError


def _is_linear(pattern: UsedPattern, opening: str, word: str, end: str) -> bool:
    text: Any = opening + word * (_LENGTH // len(word)) + end
    if isinstance(pattern.pattern.pattern, bytes):
        text = text.encode("latin-1")
    former = signal.signal(signal.SIGVTALRM, _interrupt)
    signal.setitimer(signal.ITIMER_VIRTUAL, _SECONDS)
    try:
        if pattern.is_searched:
            pattern.pattern.findall(text)
        else:
            pattern.pattern.fullmatch(text)
    except _TooLongError:
        return False
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, former)
    return True


@needs("redis")  # a module with patterns imports it
def test_every_pattern_takes_linear_time() -> None:
    """Constants, literals in functions, and samples of those that functions put together."""
    every = chain(constants(), literals(), of_dates(), samples())
    patterns = {(result.pattern, result.is_searched): result for result in every}
    failed = [
        (result.name, result.pattern.pattern, parts)
        for result in patterns.values()
        if result.name not in _BOUNDED
        for parts in texts(result.pattern, longest=scaled(1, 2), most=scaled(4, 9))
        if not _is_linear(result, *parts)
    ]
    assert failed == []


@pytest.mark.parametrize(
    ("pattern", "is_searched"),
    [
        (r"\{[^}]*\}", True),
        (r"[^/]*$", True),
        (r"(a|b|ab)*c", False),
        (r"a\s*b?\s*c", False),
        (r"\S+\.\S+", False),
    ],
)
def test_a_pattern_that_takes_quadratic_time_is_noticed(pattern: str, is_searched: bool) -> None:
    result = UsedPattern("", re.compile(pattern), is_searched)
    assert not all(_is_linear(result, *parts) for parts in texts(result.pattern, 2, 4))
