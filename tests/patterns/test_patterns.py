"""No pattern takes more than linear time for a text from outside; steps are counted."""

from __future__ import annotations

import re
from dataclasses import fields
from inspect import getclosurevars
from itertools import chain
from typing import Any

import pytest
from geolookup_builder.sources.formats import bgpdump, cidr_list, cloud, pfx2as, rir, rpki, tor
from geolookup_builder.sources.reading.text import line_layout

from geolookup.export.formats import FORMATS
from geolookup.files.text_blocks import _patterns
from geolookup.kernel.python_cells import _cell_pattern
from geolookup.prefixes.list_text import Settings
from geolookup.remote.key import Key
from tests.patterns.finding import UsedPattern, calls, constants, literals
from tests.patterns.steps import Steps, TooManyError, texts
from tests.skips import needs
from tests.tiers import scaled

_CELLS = _patterns(",")
_DATED = bgpdump, cidr_list, cloud, pfx2as, rir, rpki, tor
_MASK = line_layout("#").mask
assert _MASK is not None
#: Functions that make patterns, with patterns that they make.
_MADE: dict[str, list[tuple[re.Pattern[Any], bool]]] = {
    "geolookup.export.outputs._is_written_by": [
        (re.compile(export_format.holds), False)
        for export_format in FORMATS.values()
        if export_format.holds
    ],
    "geolookup.files.text_blocks._patterns": [
        (pattern, pattern is _CELLS[1]) for pattern in _CELLS
    ],
    "geolookup.integrations.redaction._without": [
        (re.compile(r"(?<![0-9A-Fa-f])(?:1\.2\.3\.4|::1)(?![0-9A-Fa-f])", re.IGNORECASE), True)
    ],
    "geolookup.prefixes.list_text.__post_init__": [
        (re.compile(setting.metadata["form"][0]), False) for setting in fields(Settings)
    ],
    "geolookup.kernel.python_cells._cell_pattern": [(_cell_pattern(b","), False)],
    "geolookup.remote.key.__init__": [(Key("a+/ ")._forms, True)],
    "geolookup_builder.sources.formats.ip2location.database_in_names": [
        (re.compile("(?<![A-Z0-9])DB([0-9]{1,2})(?![0-9])"), True)
    ],
    "geolookup_builder.sources.reading.own_values.offered": [
        (re.compile(re.escape("city_name_LANG").replace("LANG", "[^.]+")), False)
    ],
    "geolookup_builder.sources.reading.stated_dates.in_first_lines": [
        (getclosurevars(module._DATE).nonlocals["compiled"], True) for module in _DATED
    ],
    "geolookup_builder.sources.reading.text.line_layout": [(_MASK, True)],
}
#: Functions whose patterns are constants, or are for tables of the package itself.
_NO_OTHER = {
    "geolookup_builder.reference.countries._value",
    "geolookup_builder.sources.formats.mmdb_products._kind",
}
#: Patterns whose steps grow faster, but not with a text from outside.
_BOUNDED = {
    "geolookup.cli.answer_formats._TOKEN": "text of json.dumps: each quote is closed",
    "geolookup.kernel.python_texts._NO_BEGIN": "34 bytes before an address",
    "geolookup.kernel.python_texts._RUN_BEFORE": "the bytes of the longest address",
    "geolookup.pictures.charts._TAGS": "a drawing of ours: each tag is closed",
}


def _all() -> list[UsedPattern]:
    made = (
        UsedPattern(name, pattern, is_searched)
        for name, patterns in _MADE.items()
        for pattern, is_searched in patterns
    )
    unique = {
        (result.pattern, result.is_searched): result
        for result in chain(constants(), literals(), made)
    }
    return [result for result in unique.values() if result.name not in _BOUNDED]


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


@needs("redis")  # a module with patterns imports it
def test_every_pattern_that_a_function_makes_is_in_the_table() -> None:
    made = {call.name for call in calls() if call.literal is None}
    assert made == _MADE.keys() | _NO_OTHER
    assert _BOUNDED.keys() <= {result.name for result in constants()}


@needs("redis")
def test_the_steps_of_every_pattern_grow_with_its_text() -> None:
    failed = [
        (result.name, result.pattern.pattern, parts)
        for result in _all()
        for parts in texts(result.pattern, longest=scaled(1, 2), most=scaled(4, 9))
        if not _is_linear(result, *parts)
    ]
    assert failed == []


@pytest.mark.parametrize(
    ("pattern", "is_searched"),
    [
        (r"\{[^}]*\}", True),
        (r"[^/]*$", True),
        (r"a\s*b?\s*c", False),
        (r"\S+\.\S+", False),
        (r"(a|b|ab)*c", False),
    ],
)
def test_a_pattern_that_takes_quadratic_time_is_noticed(pattern: str, is_searched: bool) -> None:
    result = UsedPattern("", re.compile(pattern), is_searched)
    assert not all(_is_linear(result, *parts) for parts in texts(result.pattern, 2, 4))
