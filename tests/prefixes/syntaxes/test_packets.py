"""Whose packets the kernel drops by a list, with each tool that gives it one."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from tests.prefixes.syntaxes.lists import drawn, members, neighbours, whole_text
from tests.prefixes.syntaxes.packets import __file__ as packets
from tests.prefixes.syntaxes.tools import needs_namespace, script

pytestmark = [pytest.mark.long, *needs_namespace("nft", "ipset", "iptables", "ip6tables", "ip")]
LIST = drawn(1, 100)
_RULES = """
table inet geolookup {
    chain input {
        type filter hook input priority filter
        ip saddr @geolookup_v4 drop
        ip6 saddr @geolookup_v6 drop
    }
}
"""
LOADED = {
    "nft": "nft -f list; nft -f rules",
    "ipset": (
        "ipset restore -f list; "
        "iptables -A INPUT -m set --match-set geolookup_v4 src -j DROP; "
        "ip6tables -A INPUT -m set --match-set geolookup_v6 src -j DROP"
    ),
    "iptables": (
        "iptables-restore --noflush list; iptables -A INPUT -j geolookup; "
        "ip6tables-restore --noflush list; ip6tables -A INPUT -j geolookup"
    ),
}


@pytest.mark.parametrize("name", LOADED)
def test_packets_from_the_list_are_dropped(name: str, tmp_path: Path) -> None:
    (tmp_path / "list").write_text(whole_text(name, LIST))
    (tmp_path / "rules").write_text(_RULES)
    inside, outside = members(LIST)[::67], neighbours(LIST)[::67]
    assert {":" in each for each in inside} == {":" in each for each in outside} == {True, False}
    asked = shlex.join([sys.executable, packets, *inside, *outside])
    assert script(tmp_path, f"{LOADED[name]}; {asked}").split() == outside
