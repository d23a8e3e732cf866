"""The examples in the docstrings of the main calls run, on the bundled dataset."""

from __future__ import annotations

import doctest
from operator import attrgetter
from pathlib import Path

import pyarrow as pa
import pytest

import geolookup

MAIN = (
    *("open", "answer", "get", "lookup"),
    *("Engine.get_many", "Engine.enrich", "Engine.prefixes"),
    "build",
)


@pytest.mark.parametrize("name", ["__doc__", *MAIN])
def test_the_example_of_a_call(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    call = geolookup if name == "__doc__" else attrgetter(name)(geolookup)
    names = {"geolookup": geolookup, "pa": pa}
    text = call.__doc__ or ""
    example = doctest.DocTestParser().get_doctest(text, names, name, None, None)
    assert example.examples
    report: list[str] = []
    doctest.DocTestRunner(verbose=False).run(example, out=report.append)
    assert "".join(report) == ""
