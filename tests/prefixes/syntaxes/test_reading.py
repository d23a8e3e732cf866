"""Each syntax read back: the same prefixes, and an old list with its changes is the new list."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import geolookup
from geolookup.prefixes.answers import lists as selection_lists
from geolookup.prefixes.select import Selection, question
from geolookup.prefixes.syntaxes import SYNTAXES
from geolookup.prefixes.syntaxes.settings import Settings
from tests.prefixes.syntaxes.lists import changes_text, drawn, whole_text
from tests.prefixes.syntaxes.reading import READERS, Held
from tests.tiers import few

#: Syntaxes whose list does not replace another: a group that is in use cannot be replaced, and
#: nothing holds a list of lines.
_ADDING = ("cidr", "cisco")
_FILES = st.tuples(st.integers(0, 1 << 16), st.integers(0, 25))


def _prefixes(held: Held) -> list[str]:
    return sorted(each for name in held for each in held[name])


def _listed(prefixes: dict[int, list[str]]) -> list[str]:
    return sorted(prefixes[4] + prefixes[6])


def test_every_syntax_is_read_back() -> None:
    assert set(READERS) == {name for name, each in SYNTAXES.items() if each.entries == "prefix"}


@pytest.mark.parametrize("name", few(READERS, 5))
def test_a_selection_read_back_is_what_the_engine_yields(
    name: str, sample: geolookup.Engine
) -> None:
    dataset = sample._open_state().dataset
    selected = selection_lists(Selection(dataset, question("country=US")), SYNTAXES[name].entries)
    text = b"".join(SYNTAXES[name].whole(selected, Settings())).decode("ascii")
    found = sorted(str(each) for each in sample.prefixes("country=US"))
    assert _prefixes(READERS[name]({}, text)) == found


@pytest.mark.long
@settings(max_examples=30)
@pytest.mark.parametrize("name", READERS)
@given(old=_FILES, new=_FILES)
def test_a_list_read_back_is_the_list(
    name: str, old: tuple[int, int], new: tuple[int, int]
) -> None:
    before, after, read = drawn(*old), drawn(*new), READERS[name]
    held = read({}, whole_text(name, before))
    assert _prefixes(held) == _listed(before)
    if name not in _ADDING:
        assert _prefixes(read(held, whole_text(name, after))) == _listed(after)
    if SYNTAXES[name].changes is not None:
        assert _prefixes(read(held, changes_text(name, before, after))) == _listed(after)
