"""Names in an output: no text can become anything but one word of it."""

from __future__ import annotations

import string

import pytest

from geolookup.prefixes.syntaxes.settings import Settings

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
