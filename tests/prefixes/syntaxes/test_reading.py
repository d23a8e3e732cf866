"""Each syntax read back: the same prefixes, and an old list with its changes is the new list.

No text of a setting can become anything but one word of an output.
"""

from __future__ import annotations

import string

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
from tests.tiers import scaled

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


def test_a_selection_read_back_is_what_the_engine_yields(sample: geolookup.Engine) -> None:
    selected = Selection(sample._open_state().dataset, question("country=US"))
    found = sorted(str(each) for each in sample.prefixes("country=US"))
    assert found
    for name, read in READERS.items():
        listed = selection_lists(selected, SYNTAXES[name].entries)
        text = b"".join(SYNTAXES[name].whole(listed, Settings())).decode("ascii")
        assert _prefixes(read({}, text)) == found, name


@settings(max_examples=scaled(2, 30))
@given(old=_FILES, new=_FILES)
def test_a_list_read_back_is_the_list(old: tuple[int, int], new: tuple[int, int]) -> None:
    before, after = drawn(*old), drawn(*new)
    for name, read in READERS.items():
        held = read({}, whole_text(name, before))
        assert _prefixes(held) == _listed(before), name
        if name not in _ADDING:
            assert _prefixes(read(held, whole_text(name, after))) == _listed(after), name
        if SYNTAXES[name].changes is not None:
            changed = read(held, changes_text(name, before, after))
            assert _prefixes(changed) == _listed(after), name


MEMBERS = ("name", "table", "target", "value", "acl")
_HOSTILE = (
    *("", " ", "a b", "a\nb", "a;b", "a{b", "a}b", "a#b", 'a"b', "a'b", "a$b", "a`b", "a\\b"),
    *("a\0b", "a,b", "a|b", "a&b", "\u00e4", "\u0661", "a\u2028b", "x" * 2000, "a\n"),
)


def test_what_would_end_a_word_is_refused() -> None:
    for member in MEMBERS:
        for text in _HOSTILE:
            with pytest.raises(ValueError, match=f"^{member} .* is not ") as caught:
                Settings(**{member: text})
            assert str(caught.value).isprintable()


def test_no_sign_of_a_syntax_is_accepted() -> None:
    for member in MEMBERS:
        accepted = {sign for sign in map(chr, range(0x250)) if _is_accepted(member, f"a{sign}a")}
        assert accepted >= set("azAZ09_"), member
        assert accepted <= set(string.ascii_letters + string.digits + "_-./@:+"), member


def _is_accepted(member: str, text: str) -> bool:
    try:
        Settings(**{member: text})
    except ValueError:
        return False
    return True


def test_names_that_a_tool_would_refuse_or_that_it_has() -> None:
    for name in ("-x", "_x", "1x", "INPUT", "DROP", "x" * 24, "a-b"):
        with pytest.raises(ValueError, match="name "):
            Settings(name=name)
    Settings(name="x" * 23, table="my-filter", target="f2b-chain", value="AT", acl="#12")
    for acl in ("/etc/haproxy/lists/geo.acl", "virt@geo"):
        Settings(acl=acl)
