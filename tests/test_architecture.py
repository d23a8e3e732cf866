"""ARCHITECTURE.md names files that exist, and passes over no part of the compiler.

What may import what is held against the page in ``tests/test_imports.py``.
"""

from __future__ import annotations

import re

import pytest

from tests.conftest import ROOT

PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
RUNTIME, COMPILER = ROOT / "geolookup", ROOT / "builder" / "geolookup_builder"
#: Paths relative to the checkout, to the runtime or to the compiler.
PATHS = sorted(set(re.findall(r"`([\w./]+(?:\.\w+|/))`", PAGE)))
LINKS = sorted(set(re.findall(r"\]\(([\w./]+)\)", PAGE)))


def test_the_page_is_one_page() -> None:
    assert len(PAGE.splitlines()) <= 120
    assert len(PATHS) > 25


@pytest.mark.parametrize("path", [*PATHS, *LINKS])
def test_every_path_of_the_page_exists(path: str) -> None:
    assert any((base / path).exists() for base in (ROOT, RUNTIME, COMPILER)), path


def test_every_part_of_the_compiler_is_on_the_page() -> None:
    parts = {path.name + "/" * path.is_dir() for path in COMPILER.iterdir()}
    parts = {each for each in parts if not each.startswith("__") and each != "py.typed"}
    named = {re.match(r"[\w.]+/?", each)[0] for each in PATHS}  # type: ignore[index]
    assert parts - named == set()
