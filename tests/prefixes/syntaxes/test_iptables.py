"""What iptables-restore and ip6tables-restore accept, and the rules of the chain after it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.prefixes.syntaxes.lists import drawn, write_lists
from tests.prefixes.syntaxes.tools import needs_namespace, script

pytestmark = [pytest.mark.long, *needs_namespace("iptables-restore", "ip6tables-restore")]
OLD, NEW = drawn(1, 100), drawn(2, 100)
_SHOW = "iptables -S geolookup; ip6tables -S geolookup"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_lists(tmp_path, "iptables", OLD, NEW)


def _held(folder: Path, *files: str) -> dict[int, list[str]]:
    """The prefixes of the chain's rules, of both families, after files were loaded."""
    loads = [
        f"{program}-restore --noflush {option}{each}"
        for each in files
        for program in ("iptables", "ip6tables")
        for option in ("--test ", "")
    ]
    lines = script(folder, "; ".join([*loads, _SHOW])).splitlines()
    rules = [line.split() for line in lines if line.startswith("-A")]
    assert all(rule[2] == "-s" and rule[4:] == ["-j", "DROP"] for rule in rules)
    found = [rule[3] for rule in rules]
    return {family: [each for each in found if (":" in each) is (family == 6)] for family in (4, 6)}


def test_a_list_is_checked_and_loaded_and_replaced(folder: Path) -> None:
    assert _held(folder, "old") == OLD
    assert _held(folder, "old", "new", "new") == NEW
    assert _held(folder, "old", "empty") == {4: [], 6: []}


def test_changes_make_the_new_list_of_the_old(folder: Path) -> None:
    held = _held(folder, "old", "changes")
    assert {family: sorted(each) for family, each in held.items()} == {
        family: sorted(each) for family, each in NEW.items()
    }


def test_rules_beside_the_chain_stay(folder: Path) -> None:
    text = "iptables -A INPUT -s 9.0.0.0/8 -j ACCEPT; iptables-restore --noflush new; "
    assert "-A INPUT -s 9.0.0.0/8 -j ACCEPT" in script(folder, f"{text} iptables -S INPUT")
