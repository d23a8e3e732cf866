"""No pattern takes more than linear time for a text from outside; steps are counted."""

from __future__ import annotations

import re
from itertools import chain

import pytest

from tests.patterns.finding import UsedPattern, constants, literals
from tests.patterns.steps import Steps, TooManyError, texts
from tests.skips import needs
from tests.tiers import scaled

#: Patterns whose steps grow faster, but not with a text from outside.
_BOUNDED = {
    "geolookup.cli.answer_formats._TOKEN": "text of json.dumps: each quote is closed",
    "geolookup.kernel.python_texts._NO_BEGIN": "34 bytes before an address",
    "geolookup.kernel.python_texts._RUN_BEFORE": "the bytes of the longest address",
    "geolookup.pictures.charts._TAGS": "a drawing of ours: each tag is closed",
}


def _growth(pattern: UsedPattern, opening: str, word: str, end: str, count: int) -> float:
    """Return how many times the steps grow if a word is repeated three times as often."""
    few, many = (
        Steps(pattern.pattern, opening + word * times + end).run(
            whole=not pattern.is_searched, anywhere=pattern.is_searched
        )
        for times in (count, 3 * count)
    )
    return many / few if few >= count else 1.0


def _is_linear(pattern: UsedPattern, opening: str, word: str, end: str) -> bool:
    # Three times the text, three times the steps: nine times if they are quadratic. A repeat with a
    # bound, such as {1,64}, seems quadratic in short texts.
    try:
        return any(_growth(pattern, opening, word, end, count) < 4 for count in (12, 400))
    except TooManyError:
        return False


@pytest.mark.long
@needs("redis")  # a module with patterns imports it
def test_the_steps_of_every_pattern_grow_with_its_text() -> None:
    """Constants, and literals in functions; not the patterns that functions put together."""
    patterns = {
        (result.pattern, result.is_searched): result for result in chain(constants(), literals())
    }
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
        pytest.param(r"[^/]*$", True, marks=pytest.mark.long),
        (r"(a|b|ab)*c", False),
        pytest.param(r"a\s*b?\s*c", False, marks=pytest.mark.long),
        pytest.param(r"\S+\.\S+", False, marks=pytest.mark.long),
    ],
)
def test_a_pattern_that_takes_quadratic_time_is_noticed(pattern: str, is_searched: bool) -> None:
    result = UsedPattern("", re.compile(pattern), is_searched)
    assert not all(_is_linear(result, *parts) for parts in texts(result.pattern, 2, 4))
