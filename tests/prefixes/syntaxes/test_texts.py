"""The text of each syntax, letter by letter: a list, its changes, and a list without a prefix."""

from __future__ import annotations

import re
from dataclasses import replace

from geolookup.prefixes.syntaxes import SYNTAXES
from geolookup.prefixes.syntaxes.settings import Settings
from tests.prefixes.syntaxes.lists import changes_text, whole_text

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
    **dict.fromkeys(("haproxy", "pf", "squid"), LINES),
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
EMPTY = {
    "nft": """\
add table inet filter
add set inet filter listed_v4 { type ipv4_addr; flags interval; }
flush set inet filter listed_v4
""",
    "ipset": """\
create listed_v4 hash:net family inet maxelem 16777216 -exist
create listed_v4_new hash:net family inet maxelem 16777216 -exist
flush listed_v4_new
swap listed_v4 listed_v4_new
destroy listed_v4_new
""",
    "nginx-geo": "geo $listed {\n    default 0;\n}\n",
    "iptables": "*filter\n:listed - [0:0]\nCOMMIT\n",
    **dict.fromkeys(("haproxy", "pf", "squid"), ""),
    "bird": "define listed_v4 = [\n];\n",
    "cisco": "object-group network listed_v4\n",
}
NAMED = Settings(name="listed", table="filter", target="LOG-DROP", value="yes", acl="#1")


def test_a_list_its_changes_and_an_empty_list() -> None:
    for name, text in WHOLE.items():
        assert whole_text(name, OLD, NAMED) == text, name
        assert whole_text(name, {4: []}, NAMED) == EMPTY[name], name
    for name, text in CHANGES.items():
        assert changes_text(name, OLD, NEW, NAMED) == text, name
    assert {*WHOLE, "cidr"} == {name for name, each in SYNTAXES.items() if each.entries == "prefix"}
    assert set(CHANGES) == {name for name, each in SYNTAXES.items() if each.changes}
    assert set(WHOLE) == set(EMPTY)


def test_a_syntax_takes_the_names_that_its_texts_have() -> None:
    for name, syntax in SYNTAXES.items():
        if syntax.entries == "prefix":
            shown = {each for each in vars(NAMED) if _texts(name, each) != _texts(name)}
            assert syntax.takes == shown, name


def _texts(name: str, *changed: str) -> list[str]:
    settings = replace(NAMED, **dict.fromkeys(changed, "another"))
    writes = [whole_text(name, OLD, settings)]
    return writes + ([changes_text(name, OLD, NEW, settings)] if SYNTAXES[name].changes else [])


def test_long_lists_are_several_commands_of_nft() -> None:
    prefixes = [f"{10 + (at >> 16)}.{at >> 8 & 255}.{at & 255}.0/24" for at in range(20_001)]
    text = whole_text("nft", {4: prefixes})
    assert [each.count(",") for each in text.split("add element")] == [0, 10_000, 10_000, 1]
    assert re.findall(r"\S+/24", text) == prefixes
