"""The two tiers, and that nothing is skipped where everything is installed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.tiers import few

#: Tests that skip in each of the ways in which pytest skips.
SKIPPING = {
    "importorskip": "import pytest\npytest.importorskip('no_such_module')\n",
    "whole module": "import pytest\npytest.skip('none', allow_module_level=True)\n",
    "unittest": "import unittest\nraise unittest.SkipTest('none')\n",
    "mark": "import pytest\n@pytest.mark.skip\ndef test_a(): pass\n",
    "call": "import pytest\ndef test_a(): pytest.skip('none')\n",
    "no parameters": "import pytest\n@pytest.mark.parametrize('a', [])\ndef test_a(a): pass\n",
}

XDIST = ["-p", "xdist", "-n", "1"]

TIERS = """
import pytest
from hypothesis import settings
from tests.tiers import scaled
@pytest.mark.long
def test_long(): pass
@pytest.mark.parametrize('size', [1, pytest.param(2, marks=pytest.mark.long)])
def test_sizes(size): pass
def test_amounts():
    print('amounts', scaled(3, 700), settings.default.max_examples)
    print('derandomized', settings.default.derandomize)
"""


def run(folder: Path, text: str, *options: str, **environment: str) -> tuple[int, str]:
    """pytest's exit status and output for a file of this text."""
    (folder / "test_one.py").write_text(text + "\ndef test_passes(): pass\n")
    plugins = ["-p", "tests.tiers", "-p", "tests.skips", "-p", "no:cacheprovider"]
    kept = {k: v for k, v in os.environ.items() if k not in {"GEOLOOKUP_NO_SKIP", "CI"}}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-s", "-q", *plugins, *options, "test_one.py"],
        check=False,
        cwd=folder,
        # The plugins that happen to be installed take a second to load.
        env={**kept, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout


@pytest.mark.parametrize("way", few(SKIPPING, 3))
def test_a_skip_fails_where_nothing_may_be_skipped(way: str, tmp_path: Path) -> None:
    status, output = run(tmp_path, SKIPPING[way], GEOLOOKUP_NO_SKIP="1")
    assert status not in {0, 5}, output
    assert "was skipped where nothing may be" in output


@pytest.mark.long
def test_a_skipped_module_fails_in_a_worker_too(tmp_path: Path) -> None:
    status, output = run(tmp_path, SKIPPING["importorskip"], *XDIST, GEOLOOKUP_NO_SKIP="1")
    assert status not in {0, 5}, output


def test_a_skip_passes_elsewhere(tmp_path: Path) -> None:
    assert run(tmp_path, SKIPPING["mark"])[0] == 0


def test_the_fast_tier(tmp_path: Path) -> None:
    status, output = run(tmp_path, TIERS)
    assert status == 0
    assert "3 passed, 2 deselected" in output
    assert "amounts 3 20" in output


@pytest.mark.parametrize("options", [[], ["--random"]])
def test_everything(options: list[str], tmp_path: Path) -> None:
    status, output = run(tmp_path, TIERS, "--all", *options, GEOLOOKUP_NO_SKIP="1")
    assert status == 0
    assert "5 passed" in output
    assert "amounts 700 100" in output
    assert f"derandomized {not options}" in output
