"""What a page shows is what happens: its examples run, or a table says why not."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.docs.blocks import (
    NOT_RUN,
    PAGES,
    PRESUMED,
    SHOWN,
    Block,
    Needs,
    blocks,
    name_of,
    sessions,
)
from tests.docs.namespace import matches
from tests.docs.program import program
from tests.docs.running import RUNS, read

BLOCKS = {name_of(page): blocks(page) for page in PAGES}


def _stated(block: Block) -> bool:
    return any(block.page == page and block.text.startswith(start) for page, start, _ in NOT_RUN)


def runs(block: Block) -> bool:
    return (bool(block.name) or block.kind in RUNS) and not _stated(block)


def _parameters() -> list[object]:
    """The README runs in the fast tier, the other pages with ``--all``."""
    return [
        pytest.param(page, marks=() if page == "README.md" else pytest.mark.long)
        for page, item in BLOCKS.items()
        if any(runs(block) for block in item)
    ]


@pytest.fixture(scope="module")
def commands_in() -> Iterator[Path]:
    """The folder of a command ``geolookup`` that starts in no time."""
    with program() as folder:
        yield folder


@pytest.mark.parametrize("page", _parameters())
def test_the_examples_of_a_page(page: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Commands of the README are processes of their own."""
    presumed = PRESUMED.get(page, Needs())
    for module in presumed.modules:
        pytest.importorskip(module)
    for needed in presumed.programs:
        if shutil.which(needed) is None:
            pytest.skip(f"no {needed} here")
    folder = None if page == "README.md" else request.getfixturevalue("commands_in")
    read(filter(runs, BLOCKS[page]), presumed, tmp_path, folder)


def test_every_block_runs_under_its_name_or_has_a_reason() -> None:
    silent = [
        block.position
        for result in BLOCKS.values()
        for block in result
        if not (runs(block) or _stated(block) or block.kind in SHOWN)
    ]
    assert silent == []
    # A reader sees no name that stands in the fence.
    unnamed = [
        block.position
        for page, item in BLOCKS.items()
        for block in item
        if block.name and block.name not in _above(page, block.line)
    ]
    assert unnamed == []
    for page, start, reason in NOT_RUN:
        assert any(block.text.startswith(start) for block in BLOCKS[page]), (page, start)
        for test in re.findall(r"tests/\S+\.py", reason):
            assert page in (ROOT / test).read_text(encoding="utf-8"), (page, test)
    assert {*PRESUMED} <= {page for page, item in BLOCKS.items() if any(map(runs, item))}


def _above(page: str, line: int) -> str:
    lines = (ROOT / page).read_text(encoding="utf-8").splitlines()
    return "\n".join(lines[max(0, line - 6) : line - 1])


def test_what_is_read_of_a_page(tmp_path: Path) -> None:
    for shown, printed, same in (
        ("a 1\n", "a 2\n", False), ("a …\n", "a 2\n", True), ("a …\n", "a 2\nb\n", False),
        ("a\n…\n", "a\nb\nc\n", True), ("a\n…\nc\n", "a\nc\n", True),
        ("a\n…\nc\n", "a\nb\n", False), ("", "", True), ("", "a\n", False),
    ):  # fmt: skip
        assert matches(shown, printed) == same, (shown, printed)
    page = tmp_path / "page.md"
    text = "```{eval-rst}\n.. code::\n```\n\n````text\n```\n````\n\n```python a.py\n1\n```\n"
    page.write_text(text, encoding="utf-8")
    actual = [(block.kind, block.name, block.text) for block in blocks(page, tmp_path)]
    assert actual == [("text", "", "```\n"), ("python", "a.py", "1\n")]
    shown = "$ cat <<'E'\n> a\n> E\na\n$ b\n"
    assert list(sessions(shown)) == [("cat <<'E'\na\nE", "a\n"), ("b", "")]
