"""The README's two commands of the start, which .ci/run takes from it and runs in clean copies."""

from __future__ import annotations

from tests.conftest import ROOT
from tests.docs.blocks import blocks


def test_the_two_commands_of_the_start() -> None:
    commands = [each.text.strip() for each in blocks(ROOT / "README.md") if each.kind == "sh"]
    assert len(commands) == 2
    assert commands[0].endswith("geolookup lookup 8.8.8.8")
    assert commands[1].endswith("-m pytest -q -n 2 --dist worksteal")
