"""What BIRD accepts, and which prefixes its sets contain."""

from __future__ import annotations

import re
from ipaddress import ip_network
from pathlib import Path

import pytest

from tests.prefixes.syntaxes.lists import drawn, members, neighbours, whole_text
from tests.prefixes.syntaxes.tools import needs, run, running

pytestmark = [pytest.mark.long, needs("bird", "birdc")]
LIST = drawn(1, 300)


def _command(folder: Path, text: str) -> list[str]:
    (folder / "list.conf").write_text(text)
    (folder / "bird.conf").write_text(
        f'router id 192.0.2.1;\ninclude "{folder}/list.conf";\nprotocol device {{}}\n'
    )
    return ["bird", "-c", str(folder / "bird.conf")]


def _contained(place: Path, prefixes: list[str]) -> set[str]:
    """What BIRD says of prefixes: whether its set contains each."""
    assert prefixes
    asked = "eval {} ~ geolookup_v{}\n"
    lines = "".join(asked.format(each, 6 if ":" in each else 4) for each in prefixes)
    printed = run("birdc", "-s", str(place), text=lines).stdout
    answers = re.findall(r"TRUE|FALSE", printed)
    assert len(answers) == len(prefixes)
    return set(answers)


def test_prefixes_are_members(short_folder: Path) -> None:
    command = _command(short_folder, whole_text("bird", LIST))
    assert run(*command, "-p").returncode == 0
    place = short_folder / "socket"
    with running(place, *command, "-f", "-s", str(place), "-P", str(short_folder / "pid")):
        hosts = [str(ip_network(each)) for each in members(LIST)[::37]]
        assert _contained(place, hosts + (LIST[4] + LIST[6])[::37]) == {"TRUE"}
        outside = [str(ip_network(each)) for each in neighbours(LIST)[::37]]
        wider = [str(ip_network(each).supernet()) for each in (LIST[4] + LIST[6])[::37]]
        assert _contained(place, outside + wider) == {"FALSE"}


def test_an_empty_list_is_accepted(short_folder: Path) -> None:
    assert run(*_command(short_folder, whole_text("bird", {4: [], 6: []})), "-p").returncode == 0


def test_a_malformed_file_is_refused(short_folder: Path) -> None:
    """The check would notice a syntax error."""
    text = whole_text("bird", LIST).replace("/24", "/33", 1)
    assert run(*_command(short_folder, text), "-p").returncode
