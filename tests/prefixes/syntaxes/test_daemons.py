"""What BIRD, HAProxy, nginx and Squid accept, and which addresses HAProxy matches."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from geolookup.prefixes.list_text import Settings
from tests.prefixes.syntaxes.reading import changes_text, drawn, members, neighbours, whole_text
from tests.prefixes.syntaxes.tools import (
    exchange,
    needs,
    response,
    run,
    running,
)
from tests.servers import nginx_files

pytestmark = pytest.mark.long
LIST, NEW = drawn(1, 300), drawn(2, 100)
INSIDE, OUTSIDE = members(LIST)[::37], neighbours(LIST)[::37]
BLOCKED = Settings(name="blocked", value="listed")
#: A configuration, with {0} for its folder, and the command that checks it.
DAEMONS = {
    "bird": (
        'router id 192.0.2.1;\ninclude "{0}/list";\nprotocol device {{}}\n',
        ("bird", "-c", "{0}/conf", "-p"),
    ),
    "haproxy": (
        """
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
""",
        ("haproxy", "-f", "{0}/conf", "-c"),
    ),
    "nginx-geo": (
        """
error_log stderr; pid {0}/pid; worker_processes 1; daemon off; events {{}}
http {{
    {1}
    access_log off;
    include {0}/list;
    server {{
        listen unix:{0}/socket;
        return 200 "value=$blocked";
    }}
}}
""",
        ("nginx", "-e", "stderr", "-p", "{0}", "-c", "{0}/conf", "-t"),
    ),
    "squid": (
        """
acl listed src "{0}/list"
http_access deny listed
http_port 127.0.0.1:3128
pid_filename {0}/pid
cache deny all
""",
        ("squid", "-k", "parse", "-f", "{0}/conf"),
    ),
}


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder with a short name, without blanks: programs read it unquoted, a socket at most 107
    bytes of it."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        yield Path(name)


def configured(folder: Path, name: str, text: str | None = None) -> list[str]:
    """Configure a daemon to read a list; return the command that checks it."""
    configuration, command = DAEMONS[name]
    (folder / "list").write_text(whole_text(name, LIST, BLOCKED) if text is None else text, "utf-8")
    (folder / "conf").write_text(configuration.format(folder, nginx_files(folder)), "utf-8")
    return [part.format(folder) for part in command]


def is_accepted(done: subprocess.CompletedProcess[str]) -> bool:
    words = set(done.stderr.replace(":", " ").split())
    return done.returncode == 0 and not {"WARNING", "ERROR", "FATAL"} & words


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=needs(command[0])) for name, (_, command) in DAEMONS.items()]
)
def test_lists_are_accepted_and_a_malformed_one_is_not(folder: Path, name: str) -> None:
    whole = whole_text(name, LIST, BLOCKED)
    # Squid warns of an empty list.
    texts = [whole] if name == "squid" else [whole, whole_text(name, {4: [], 6: []}, BLOCKED)]
    for text in texts:
        assert is_accepted(run(*configured(folder, name, text)))
    assert run(*configured(folder, name, whole.replace("/24", "/33", 1))).returncode


def statuses(folder: Path, addresses: list[str]) -> set[bytes]:
    """The status of each answer to a request from an address."""
    return {response(folder / "socket", address).split()[1] for address in addresses}


@needs("haproxy")
def test_addresses_match_in_haproxy_before_changes_and_after(folder: Path) -> None:
    *command, _ = configured(folder, "haproxy")
    changed = changes_text("haproxy", LIST, NEW, Settings(acl=str(folder / "list")))
    with running(folder / "socket", *command):
        assert statuses(folder, INSIDE) == {b"403"}
        assert statuses(folder, OUTSIDE) == {b"200"}
        answer = exchange(folder / "admin", changed.encode())
        assert answer.split() == [b">"] * (len(changed.splitlines()) - 1)  # of quit none
        shown = exchange(folder / "admin", f"show acl {folder}/list\n".encode())
        assert statuses(folder, members(NEW)[::37]) == {b"403"}
        assert statuses(folder, neighbours(NEW)[::37]) == {b"200"}
    held = [line.split()[1].decode() for line in shown.splitlines() if line]
    assert sorted(held) == sorted(NEW[4] + NEW[6])
