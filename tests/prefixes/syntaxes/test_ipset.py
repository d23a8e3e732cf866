"""What ipset restores, and what its sets hold, in the kernel."""

from __future__ import annotations

from ipaddress import ip_network
from pathlib import Path

import pytest

from tests.prefixes.syntaxes.lists import drawn, members, neighbours, write_lists
from tests.prefixes.syntaxes.tools import needs_namespace, script

pytestmark = [pytest.mark.long, *needs_namespace("ipset")]
OLD, NEW = drawn(1, 400), drawn(2, 400)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_lists(tmp_path, "ipset", OLD, NEW)


def _held(folder: Path, *files: str) -> dict[int, list[str]]:
    """The entries of all sets after files were restored, in address order."""
    restores = "; ".join(f"ipset restore -f {each}" for each in files)
    lines = script(folder, f"{restores}; ipset save").splitlines()
    networks = sorted(
        (ip_network(line.split()[2]) for line in lines if line.startswith("add geolookup_v")),
        key=lambda each: (each.version, each),
    )
    assert sum(line.startswith("create") for line in lines) == 2  # none is left over
    return {family: [str(each) for each in networks if each.version == family] for family in (4, 6)}


def test_a_list_is_loaded_and_replaced(folder: Path) -> None:
    assert _held(folder, "old") == OLD
    assert _held(folder, "old", "new", "new") == NEW
    assert _held(folder, "old", "empty") == {4: [], 6: []}


def test_changes_make_the_new_list_of_the_old(folder: Path) -> None:
    assert _held(folder, "old", "changes") == NEW
    assert _held(folder, "old", "changes", "changes") == NEW  # again, as after a failure


def test_addresses_are_members(folder: Path) -> None:
    asked = "ipset -q test geolookup_v{} {} {} exit 1"
    inside, outside = members(NEW)[::37], neighbours(NEW)[::37]
    lines = [asked.format(6 if ":" in each else 4, each, "||") for each in inside]
    lines += [asked.format(6 if ":" in each else 4, each, "&&") for each in outside]
    script(folder, "\n".join(["ipset restore -f new", *lines, "true"]))


def test_a_set_in_use_is_replaced(folder: Path) -> None:
    """A rule that names the set keeps it from being destroyed, but not from being swapped."""
    assert _held(folder, "old") == OLD
    script(
        folder,
        "ipset restore -f old; iptables -A INPUT -m set --match-set geolookup_v4 src -j DROP; "
        "ipset restore -f new; iptables -S INPUT",
    )
