"""A cache of its own for each test, a file of data, and the compilations that were made."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.internals.builder import compile as compiler
from tests.own_cache import cache  # noqa: F401 - a fixture

SITES = "network,city_name,country_code\n8.8.8.8,Site,US\n"


@pytest.fixture
def sites(tmp_path: Path) -> Path:
    path = tmp_path / "sites.csv"
    path.write_text(SITES, encoding="utf-8")
    return path


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The outputs of the compilations of this process."""
    outputs, compile_recipe = list[Path](), compiler.compile_recipe

    def counted(recipe: object, output: Path, *arguments: object) -> object:
        outputs.append(output)
        return compile_recipe(recipe, output, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(compiler, "compile_recipe", counted)
    return outputs
