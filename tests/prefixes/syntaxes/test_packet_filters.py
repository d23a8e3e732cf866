"""What nft, ipset and iptables load and hold, and which lists daemons accept.

Packet filters run in network namespaces of their own: each has its own sets and rules, and is
gone with its last process.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from ipaddress import ip_network
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.conftest import ROOT
from tests.docs.blocks import blocks
from tests.prefixes.syntaxes.reading import changes_text, drawn, whole_text

pytestmark = pytest.mark.long
PROGRAMS = ("nft", "ipset", "iptables-restore", "ip6tables-restore", "ip")
_PATH = os.pathsep.join((os.environ["PATH"], "/usr/sbin", "/sbin"))
#: Without the rights of root a namespace of users comes with the network's.
_IS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
_APART = ["unshare", "-n" if _IS_ROOT else "-rn"]


def needs(*programs: str) -> pytest.MarkDecorator:
    """Skip where a program is missing; where nothing may be skipped that is a failure."""
    missing = [program for program in programs if shutil.which(program, path=_PATH) is None]
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}")


def in_namespace(test: Callable[..., None]) -> Callable[..., None]:
    """Skip a test where the system gives no network namespace, or no rights in it."""
    allowed = (
        shutil.which(_APART[0]) and not subprocess.run([*_APART, "true"], check=False).returncode
    )
    refused = pytest.mark.skipif(not allowed, reason="no network namespace for this user")
    marked: Callable[..., None] = pytest.mark.packet_filter(refused(needs(*PROGRAMS)(test)))
    return marked


def run(
    *command: str, apart: bool = False, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end, and return its streams as text."""
    return subprocess.run(
        [*(_APART if apart else ()), *command],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PATH": _PATH},
        cwd=cwd,
    )


def script(folder: Path, text: str) -> str:
    """Run a shell script in a folder and in a namespace; return its output."""
    done = run("sh", "-e", "-c", text, apart=True, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return done.stdout


OLD, NEW = drawn(1, 400), drawn(2, 400)
EMPTY: dict[int, list[str]] = {4: [], 6: []}


class Filter(NamedTuple):
    """The commands that load a file and print the list; a reader of that list."""

    loads: str
    shows: str
    read: Callable[[str], list[str]]


def nft_elements(printed: str) -> list[str]:
    sets = [item["nftables"][-1]["set"] for item in map(json.loads, printed.splitlines())]
    return [nft_network(element) for item in sets for element in item.get("elem", ())]


def nft_network(element: Any) -> str:
    if isinstance(element, dict):
        return f"{element['prefix']['addr']}/{element['prefix']['len']}"
    return str(ip_network(element))


def ipset_entries(printed: str) -> list[str]:
    lines = printed.splitlines()
    assert sum(line.startswith("create") for line in lines) == 2  # none is left over
    added = [line.split()[2] for line in lines if line.startswith("add geolookup_v")]
    return [str(ip_network(item)) for item in added]


def iptables_rules(printed: str) -> list[str]:
    rules = [line.split() for line in printed.splitlines() if line.startswith("-A")]
    assert all(rule[2] == "-s" and rule[4:] == ["-j", "DROP"] for rule in rules)
    return [rule[3] for rule in rules]


FILTERS = {
    "nft": Filter(
        "nft -c -f {0}; nft -f {0}",
        "; ".join(f"nft -j list set inet geolookup geolookup_v{family}" for family in (4, 6)),
        nft_elements,
    ),
    "ipset": Filter(
        "ipset restore -f {0}",
        "ipset save",
        ipset_entries,
    ),
    "iptables": Filter(
        "; ".join(
            f"{program}-restore --noflush {option}{{0}}"
            for program in ("iptables", "ip6tables")
            for option in ("--test ", "")
        ),
        "iptables -S geolookup; ip6tables -S geolookup",
        iptables_rules,
    ),
}


def loads(name: str, *files: str) -> str:
    return "; ".join(FILTERS[name].loads.format(file) for file in files)


def written(folder: Path, name: str) -> None:
    """Write two lists, the changes between them, and a list without a prefix, a file each."""
    for file, prefixes in (("old", OLD), ("new", NEW), ("empty", EMPTY)):
        (folder / file).write_text(whole_text(name, prefixes), encoding="utf-8")
    (folder / "changes").write_text(changes_text(name, OLD, NEW), encoding="utf-8")


def in_order(prefixes: list[str]) -> list[str]:
    return sorted(prefixes, key=lambda prefix: ip_network(prefix).broadcast_address.packed)


@in_namespace
@pytest.mark.parametrize("name", FILTERS)
def test_lists_are_loaded_replaced_and_changed(name: str, tmp_path: Path) -> None:
    written(tmp_path, name)
    cases = {
        "old": OLD, "old new": NEW, "new new": NEW, "old empty": EMPTY, "old changes": NEW,
    }  # fmt: skip
    if name == "ipset":  # again, as after a failure
        cases["old changes changes"] = NEW
    for files, expected in cases.items():
        shown = script(tmp_path, f"{loads(name, *files.split())}; {FILTERS[name].shows}")
        held = FILTERS[name].read(shown)
        assert in_order(held) == in_order(expected[4] + expected[6]), files
        if name == "iptables" and "changes" not in files:
            assert held == expected[4] + expected[6]


@in_namespace
def test_the_commands_of_the_page_load_lists(tmp_path: Path) -> None:
    page = blocks(ROOT / "docs/integrate/prefixes.md")
    files = {
        **{block.name: block.text for block in page if block.name},
        "tv.nft": whole_text("nft", OLD),
        "tv.ipset": whole_text("ipset", OLD),
        "changes.nft": changes_text("nft", OLD, NEW),
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    lines = [line for block in page if block.kind == "bash" for line in block.text.splitlines()]
    commands = [line for line in lines if not line.startswith("geolookup ")]
    shown = script(tmp_path, "\n".join([*commands, "nft list set inet geolookup geolookup_v4"]))
    assert next(item for item in NEW[4] if item not in OLD[4]) in shown
