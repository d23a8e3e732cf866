"""The two tiers, and that nothing is skipped where everything is installed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

#: Tests that skip in each of the ways in which pytest skips.
SKIPPING = {
    "importorskip": "import pytest\npytest.importorskip('no_such_module')\n",
    "whole module": "import pytest\npytest.skip('none', allow_module_level=True)\n",
    "unittest": "import unittest\nraise unittest.SkipTest('none')\n",
    "mark": "import pytest\n@pytest.mark.skip\ndef test_a(): pass\n",
    "call": "import pytest\ndef test_a(): pytest.skip('none')\n",
    "no parameters": "import pytest\n@pytest.mark.parametrize('a', [])\ndef test_a(a): pass\n",
}

TIERS = """
import pytest
from hypothesis import settings
from tests.tiers import one_of_each, scaled
@pytest.mark.long
def test_long(): pass
@pytest.mark.parametrize('word', one_of_each(['a', 'b', 'cc', 'd', 'ee'], len))
def test_words(word): pass
def test_amounts():
    print('amounts', scaled(3, 700), settings.default.max_examples)
    print('derandomized', settings.default.derandomize)
"""


def run(folder: Path, texts: dict[str, str], *options: str, **environment: str) -> tuple[int, str]:
    """pytest's exit status and output for files of these texts."""
    for name, text in texts.items():
        (folder / f"test_{name.replace(' ', '_')}.py").write_text(text)
    plugins = ["-p", "tests.tiers", "-p", "tests.skips", "-p", "no:cacheprovider"]
    kept = {k: v for k, v in os.environ.items() if k not in {"GEOLOOKUP_NO_SKIP", "CI"}}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-s", "-q", "-rA", *plugins, *options],
        check=False,
        cwd=folder,
        # The plugins that happen to be installed take a second to load.
        env={**kept, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout


@pytest.mark.parametrize(
    "options", [(), pytest.param(("-p", "xdist", "-n", "1"), marks=pytest.mark.long)]
)
def test_each_skip_fails_where_none_may_be(options: tuple[str, ...], tmp_path: Path) -> None:
    continued = "--continue-on-collection-errors"
    status, output = run(tmp_path, SKIPPING, continued, *options, GEOLOOKUP_NO_SKIP="1")
    assert status == 1, output
    assert "passed" not in output
    for way in SKIPPING:
        node = rf"test_{way.replace(' ', '_')}\.py(?:::test_a)?"
        assert re.search(rf"^(?:FAILED|ERROR) {node}\b", output, re.MULTILINE), way
    assert output.count("was skipped, but everything should be installed: ") >= len(SKIPPING)


def test_the_tiers(tmp_path: Path) -> None:
    fast = (("3 passed, 1 skipped, 4 deselected", "amounts 3 20", "derandomized True"), ())
    full = (("7 passed, 1 skipped", "amounts 700 100", "derandomized False"), ("--all", "--random"))
    for expected, options in (fast, full):
        status, output = run(tmp_path, {"tiers": TIERS, "mark": SKIPPING["mark"]}, *options)
        assert status == 0, output
        for text in (*expected, "test_words[a]", "test_words[cc]"):
            assert text in output
