"""docs/SECURITY.md: every test it names is there, and its limits are the code's."""

from __future__ import annotations

import ast
import re
from itertools import groupby
from operator import itemgetter

from geolookup_builder.recipe import MAX_SOURCES

from geolookup.archives import head
from geolookup.contract import address
from geolookup.filesystem import limits
from geolookup.http.settings import HEAD_LIMIT
from geolookup.signing import keys
from geolookup.signing.envelope import LARGEST_ENVELOPE, MOST_SIGNATURES
from geolookup.signing.statement import LARGEST_SIGNATURE
from tests.conftest import ROOT
from tests.fuzz.targets import TARGETS

PAGE = (ROOT / "docs" / "SECURITY.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)))
THREATS = [
    line for line in PAGE.partition("## Threats")[2].partition("\n## ")[0].splitlines()
    if line.startswith("| ") and not line.startswith("| threat")
]  # fmt: skip


def test_the_named_tests_exist() -> None:
    assert len(NAMED) > 100
    missing = []
    for path, named in groupby(NAMED, itemgetter(0)):
        body = ast.parse((ROOT / path).read_text(encoding="utf-8")).body
        functions = {node.name for node in body if isinstance(node, ast.FunctionDef)}
        missing += [(path, name) for _, name in named if name not in functions]
    assert missing == []
    assert all(name.startswith("test_") for _, name in NAMED)


def test_every_threat_names_a_test() -> None:
    assert len(THREATS) > 15
    assert all(line.count(" | ") == 2 and "`tests/" in line.split(" | ")[2] for line in THREATS)


def test_the_limits_are_the_codes() -> None:
    for text in (
        f"| {address._LONGEST} characters |",
        f"| {limits.ALLOWED_BYTES >> 20} MiB unpacked, or {limits.ALLOWED_RATIO} times",
        f"| {limits.ALLOWED_MEMBERS:,} |",
        f"| {limits.ALLOWED_DIRECTORY >> 20} MiB |",
        f"| {limits.ALLOWED_HEADER >> 20} MiB |",
        f"| sources of a recipe | {MAX_SOURCES} |",
        f"| {head.LARGEST_MANIFEST >> 20} MiB |",
        f"| `signature.json` | {LARGEST_SIGNATURE >> 10} KiB, {MOST_SIGNATURES} signatures |",
        f"| index of a mirror | {LARGEST_ENVELOPE >> 20} MiB, {MOST_SIGNATURES} ",
        f"| the file of a key | {keys._LARGEST_FILE >> 10} KiB |",
        f"| {HEAD_LIMIT:,} bytes, 100 headers | 431 |",
    ):
        assert text in PAGE


def test_the_fuzz_targets_are_those_that_are_there() -> None:
    plain = [name for name in TARGETS if not name.startswith("source-")]
    assert plain
    for name in plain:
        assert f"`{name}`" in PAGE.partition("## Fuzzing")[2], name
