"""What nft accepts, and what its sets hold, in the kernel's tables."""

from __future__ import annotations

import json
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path

import pytest

from tests.prefixes.syntaxes.lists import drawn, members, neighbours, whole_text, write_lists
from tests.prefixes.syntaxes.tools import needs_namespace, run, script

pytestmark = [pytest.mark.long, *needs_namespace("nft")]
OLD, NEW = drawn(1, 400), drawn(2, 400)
_SHOW = "nft -j list set inet geolookup geolookup_v4; nft -j list set inet geolookup geolookup_v6"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_lists(tmp_path, "nft", OLD, NEW)


def _held(printed: str) -> dict[int, list[str]]:
    """The elements of both sets, in address order."""
    sets = [each["nftables"][-1]["set"] for each in map(json.loads, printed.splitlines())]
    found = [sorted(map(_network, each.get("elem", ())), key=_start) for each in sets]
    return dict(zip((4, 6), ([str(each) for each in networks] for networks in found), strict=True))


def _network(element: object) -> IPv4Network | IPv6Network:
    if isinstance(element, dict):
        return ip_network(f"{element['prefix']['addr']}/{element['prefix']['len']}")
    return ip_network(str(element))


def _start(network: IPv4Network | IPv6Network) -> int:
    return int(network.network_address)


def test_a_list_is_checked_and_loaded_and_replaced(folder: Path) -> None:
    script(folder, "nft -c -f empty; nft -c -f old")
    loads = {"old": OLD, "old new": NEW, "new empty": {4: [], 6: []}, "new new": NEW}
    for files, expected in loads.items():
        text = "; ".join(f"nft -f {each}" for each in files.split())
        assert _held(script(folder, f"{text}; {_SHOW}")) == expected


def test_changes_make_the_new_list_of_the_old(folder: Path) -> None:
    text = f"nft -f old; nft -c -f changes; nft -f changes; {_SHOW}"
    assert _held(script(folder, text)) == NEW


def test_changes_of_another_list_change_nothing(folder: Path) -> None:
    """A file is one transaction: what was not loaded cannot be deleted, so nothing is added."""
    text = f"nft -f new; nft -f changes 2>errors && exit 1; test -s errors; {_SHOW}"
    assert _held(script(folder, text)) == NEW


def test_addresses_are_members(folder: Path) -> None:
    inside, outside = members(NEW)[::97], neighbours(NEW)[::97]
    asked = "nft get element inet geolookup geolookup_v{} {{ {} }} >answer 2>&1 {} exit 1"
    lines = [asked.format(6 if ":" in each else 4, each, "||") for each in inside]
    lines += [asked.format(6 if ":" in each else 4, each, "&&") for each in outside]
    script(folder, "\n".join(["nft -f new", *lines, "true"]))


def test_a_malformed_file_is_refused(folder: Path) -> None:
    """The check would notice a syntax error."""
    (folder / "bad").write_text(whole_text("nft", OLD).replace("/24", "/33", 1))
    assert run("nft", "-c", "-f", str(folder / "bad"), apart=True).returncode
