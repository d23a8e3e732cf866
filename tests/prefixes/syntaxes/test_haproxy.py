"""What HAProxy accepts, and which addresses its ACL matches, before changes and after."""

from __future__ import annotations

from pathlib import Path

import pytest

from geolookup.prefixes.syntaxes.settings import Settings
from tests.prefixes.syntaxes.lists import changes_text, drawn, members, neighbours, whole_text
from tests.prefixes.syntaxes.tools import needs, requested, run, running, said

pytestmark = [pytest.mark.long, needs("haproxy")]
OLD, NEW = drawn(1, 100), drawn(2, 100)
_CONFIGURATION = """
global
    stats socket {0}/admin level admin
defaults
    mode http
    timeout connect 5s
    timeout client 5s
    timeout server 5s
frontend tested
    bind unix@{0}/socket accept-proxy
    acl listed src -f {0}/list
    http-request return status 403 if listed
    http-request return status 200
"""


def _command(folder: Path, text: str) -> list[str]:
    (folder / "list").write_text(text)
    (folder / "haproxy.cfg").write_text(_CONFIGURATION.format(folder))
    return ["haproxy", "-f", str(folder / "haproxy.cfg")]


def _statuses(folder: Path, addresses: list[str]) -> set[bytes]:
    assert addresses
    return {requested(folder / "socket", each).split()[1] for each in addresses}


def test_addresses_match(short_folder: Path) -> None:
    command = _command(short_folder, whole_text("haproxy", OLD))
    assert run(*command, "-c").returncode == 0
    changed = changes_text("haproxy", OLD, NEW, Settings(acl=str(short_folder / "list")))
    with running(short_folder / "socket", *command):
        assert _statuses(short_folder, members(OLD)[::37]) == {b"403"}
        assert _statuses(short_folder, neighbours(OLD)[::37]) == {b"200"}
        answer = said(short_folder / "admin", changed.encode())
        assert answer.split() == [b">"] * len(changed.splitlines())  # no error
        shown = said(short_folder / "admin", f"show acl {short_folder}/list\n".encode())
        assert _statuses(short_folder, members(NEW)[::37]) == {b"403"}
        assert _statuses(short_folder, neighbours(NEW)[::37]) == {b"200"}
    held = [line.split()[1].decode() for line in shown.splitlines() if line]
    assert sorted(held) == sorted(NEW[4] + NEW[6])


def test_an_empty_list_is_accepted(short_folder: Path) -> None:
    command = _command(short_folder, whole_text("haproxy", {4: [], 6: []}))
    assert run(*command, "-c").returncode == 0


def test_a_malformed_file_is_refused(short_folder: Path) -> None:
    """The check would notice a syntax error."""
    command = _command(short_folder, whole_text("haproxy", OLD).replace("/24", "/33", 1))
    assert run(*command, "-c").returncode
