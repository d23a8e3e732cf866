"""Every benchmark's tests have a cache of their own, and run commands the same way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.__main__ import main
from benchmarks.data import cache

#: The facts of the machine that every result has.
MACHINE = {"python", "implementation", "system", "machine", "cores", "pinned"}
Run = Callable[..., str]


@pytest.fixture(scope="module", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    # What tests make must not push out what was made to measure.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cache, "FOLDER", tmp_path_factory.mktemp("cache"))
        yield


@pytest.fixture(scope="module")
def dataset() -> Path:
    return cache.dataset("tiny")


@pytest.fixture(scope="session")
def run() -> Run:
    """Run a benchmark; returns what it prints."""

    def printed(*arguments: str) -> str:
        result = CliRunner().invoke(main, arguments, catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return result.stdout

    return printed
