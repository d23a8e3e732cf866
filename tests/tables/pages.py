"""Runs what a page of docs/tables shows."""

from __future__ import annotations

import doctest
import os
import re

import pytest

from tests.conftest import ROOT

_PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def assert_true(
    name: str, monkeypatch: pytest.MonkeyPatch, dataset: str | os.PathLike[str] = ""
) -> None:
    """Run the sessions of docs/tables/NAME.md, in order, and compare what they print.

    ``dataset`` answers where a session names none; by default the bundled one.
    """
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("GEOLOOKUP_DATASET", os.fspath(dataset))
    text = "\n".join(_PYTHON.findall((ROOT / "docs" / "tables" / f"{name}.md").read_text("utf-8")))
    test = doctest.DocTestParser().get_doctest(text, {}, name, f"{name}.md", 0)
    printed: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    runner.run(test, out=printed.append)
    assert runner.tries >= 5
    assert not printed, "".join(printed)
