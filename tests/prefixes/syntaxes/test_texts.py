"""The text of each syntax, letter by letter and read back: lists, and changes since one.

No text of a setting can become anything but one word of an output.
"""

from __future__ import annotations

import os
import re
import string
from pathlib import Path

import pytest

from geolookup.errors import TableFileError
from tests.internals.prefixes import (
    NAMES,
    SYNTAXES,
    Lists,
    checked_names,
    read_list,
)
from tests.prefixes.syntaxes.reading import changes_text, drawn, whole_text

NAMES_OF_SYNTAXES = [name for name, item in SYNTAXES.items() if item.entries == "prefix"]
_NOTHING: dict[int, list[str]] = {4: [], 6: []}
LINES = "1.0.0.0/24\n1.2.3.4/32\n2a00::/12\n"
OLD = {4: ["1.0.0.0/24", "1.2.3.4/32"], 6: ["2a00::/12"]}
NEW = {4: ["1.0.0.0/25", "1.2.3.4/32"], 6: list[str]()}

WHOLE = {
    "nft": """\
add table inet filter
add set inet filter listed_v4 { type ipv4_addr; flags interval; }
flush set inet filter listed_v4
add element inet filter listed_v4 {
	1.0.0.0/24,
	1.2.3.4/32,
}
add set inet filter listed_v6 { type ipv6_addr; flags interval; }
flush set inet filter listed_v6
add element inet filter listed_v6 {
	2a00::/12,
}
""",
    "ipset": """\
create listed_v4 hash:net family inet maxelem 16777216 -exist
create listed_v4_new hash:net family inet maxelem 16777216 -exist
flush listed_v4_new
add listed_v4_new 1.0.0.0/24
add listed_v4_new 1.2.3.4/32
swap listed_v4 listed_v4_new
destroy listed_v4_new
create listed_v6 hash:net family inet6 maxelem 16777216 -exist
create listed_v6_new hash:net family inet6 maxelem 16777216 -exist
flush listed_v6_new
add listed_v6_new 2a00::/12
swap listed_v6 listed_v6_new
destroy listed_v6_new
""",
    "nginx-geo": """\
geo $listed {
    default 0;
    1.0.0.0/24 yes;
    1.2.3.4/32 yes;
    2a00::/12 yes;
}
""",
    "iptables": """\
*filter
:listed - [0:0]
-A listed -4 -s 1.0.0.0/24 -j LOG-DROP
-A listed -4 -s 1.2.3.4/32 -j LOG-DROP
-A listed -6 -s 2a00::/12 -j LOG-DROP
COMMIT
""",
    **dict.fromkeys(("cidr", "haproxy", "pf", "squid"), LINES),
    "bird": """\
define listed_v4 = [
	1.0.0.0/24+,
	1.2.3.4/32+
];
define listed_v6 = [
	2a00::/12+
];
""",
    "cisco": """\
object-group network listed_v4
 1.0.0.0 255.255.255.0
 host 1.2.3.4
object-group v6-network listed_v6
 2a00::/12
""",
}
CHANGES = {
    "cidr": "-1.0.0.0/24\n-2a00::/12\n+1.0.0.0/25\n",
    "nft": """\
delete element inet filter listed_v4 {
	1.0.0.0/24,
}
delete element inet filter listed_v6 {
	2a00::/12,
}
add element inet filter listed_v4 {
	1.0.0.0/25,
}
""",
    "ipset": """\
add listed_v4 1.0.0.0/25 -exist
del listed_v4 1.0.0.0/24 -exist
del listed_v6 2a00::/12 -exist
""",
    "iptables": """\
*filter
-D listed -4 -s 1.0.0.0/24 -j LOG-DROP
-D listed -6 -s 2a00::/12 -j LOG-DROP
-A listed -4 -s 1.0.0.0/25 -j LOG-DROP
COMMIT
""",
    "haproxy": """\
prompt
add acl #1 1.0.0.0/25
del acl #1 1.0.0.0/24
del acl #1 2a00::/12
quit
""",
    "cisco": """\
object-group network listed_v4
 1.0.0.0 255.255.255.128
 no 1.0.0.0 255.255.255.0
object-group v6-network listed_v6
 no 2a00::/12
""",
}
NAMED = checked_names(name="listed", table="filter", target="LOG-DROP", value="yes", acl="#1")


def test_a_list_its_changes_and_an_empty_list() -> None:
    for name, text in WHOLE.items():
        assert whole_text(name, OLD, NAMED) == text, name
        in_batches = whole_text(name, OLD, NAMED, batch=1)
        assert in_batches.replace("}\nadd element inet filter listed_v4 {\n", "") == text, name
        without = r"1\.0|1\.2|2a00" + "|add element|^}" * (name == "nft")
        empty = [line for line in text.splitlines() if not re.search(without, line)]
        assert whole_text(name, _NOTHING, NAMED).splitlines() == empty, name
    many = {4: [f"{at >> 8}.{at & 255}.0.0/32" for at in range(10_001)], 6: list[str]()}
    assert whole_text("nft", many, batch=20_000).count("add element") == 2
    for name, text in CHANGES.items():
        assert changes_text(name, OLD, NEW, NAMED) == text, name
    assert {*WHOLE} == {*NAMES_OF_SYNTAXES}
    assert set(CHANGES) == {name for name, item in SYNTAXES.items() if item.changes}


def test_no_sign_of_a_syntax_is_accepted() -> None:
    for member in NAMES:
        accepted = {sign for sign in map(chr, range(0x250)) if _is_accepted(member, f"a{sign}a")}
        assert accepted >= set("azAZ09_"), member
        assert accepted <= set(string.ascii_letters + string.digits + "_-./@:+"), member
        for text in ("", "a\n", "a\u2028b", "x" * 2000):
            with pytest.raises(ValueError, match=f"^{member} .* is not ") as caught:
                checked_names(**{member: text})
            assert str(caught.value).isprintable()


def _is_accepted(member: str, text: str) -> bool:
    try:
        checked_names(**{member: text})
    except ValueError:
        return False
    return True


def _texts_in(lists: Lists) -> dict[int, list[str]]:
    return {
        family: [text for texts in batches for text in texts.to_pylist()]
        for family, batches in lists.items()
    }


def test_a_file_that_was_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "list"
    for name in NAMES_OF_SYNTAXES:
        for content in (_NOTHING, drawn(3, 40)):
            path.write_text(f"# a comment 9.0.0.0/8\n{whole_text(name, content)}", encoding="utf-8")
            assert _texts_in(read_list(path, SYNTAXES[name])) == content, name
        path.write_text("1.0.0.0/24\n2a00::/12\n", encoding="utf-8")
        assert _texts_in(read_list(path, SYNTAXES[name])) == {4: ["1.0.0.0/24"], 6: ["2a00::/12"]}


def test_another_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "list"
    for name in NAMES_OF_SYNTAXES:
        path.write_text("ip,country\n1.0.0.0,AU\n", encoding="utf-8")
        with pytest.raises(TableFileError, match="holds no prefix; name a file"):
            read_list(path, SYNTAXES[name])
        # In a group of cisco, changes that only add are a list too.
        olds = [drawn(1, 9)] if name == "cisco" else [drawn(1, 9), _NOTHING]
        for before in olds if SYNTAXES[name].changes else ():
            path.write_text(f"# a comment\n{changes_text(name, before, drawn(2, 9))}", "utf-8")
            with pytest.raises(TableFileError, match="holds changes, not a list"):
                read_list(path, SYNTAXES[name])
    for text in ("1.0.0.0/33", "::/129", "1.0.0/8", "1:2/3", "1.0.0.0/0024", f"::/{'1' * 5000}"):
        path.write_text(f"1.0.0.0/24\n{text}\n", encoding="utf-8")
        with pytest.raises(TableFileError, match="a malformed prefix; name a file") as caught:
            read_list(path, SYNTAXES["pf"])
        assert text not in str(caught.value)


def test_what_is_no_file_is_refused_at_once(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for path in (tmp_path / "none", fifo, Path("/dev/zero")):
        with pytest.raises(TableFileError, match=r"cannot be read \(.*\); name a list"):
            read_list(path, SYNTAXES["nft"])
