"""docs/how-to/firewalls.md: its commands load lists, in a network namespace of the tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from geolookup.prefixes.syntaxes.settings import Settings
from tests.conftest import ROOT
from tests.docs.blocks import blocks
from tests.prefixes.syntaxes.lists import changes_text, drawn, whole_text
from tests.prefixes.syntaxes.tools import needs_namespace, script

pytestmark = [
    pytest.mark.long,
    *needs_namespace("nft", "ipset", "iptables-restore", "ip6tables-restore"),
]
OLD, NEW = drawn(1, 50), drawn(2, 50)
NAMED = Settings(name="tuvalu")
BLOCKS = blocks(ROOT / "docs/how-to/firewalls.md")


def test_the_commands_of_the_page_load_lists(tmp_path: Path) -> None:
    files = {
        **{block.name: block.text for block in BLOCKS if block.name},
        "tv.nft": whole_text("nft", OLD),
        "tv.ipset": whole_text("ipset", OLD),
        "tv.rules": whole_text("iptables", OLD, NAMED),
        "changes.nft": changes_text("nft", OLD, NEW),
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    lines = [line for block in BLOCKS if block.kind == "bash" for line in block.text.splitlines()]
    loads = [line for line in lines if not line.startswith("geolookup ")]
    assert len(loads) > 10
    shown = script(tmp_path, "\n".join([*loads, "nft list set inet geolookup geolookup_v4"]))
    added = next(each for each in NEW[4] if each not in OLD[4])
    assert added in shown
