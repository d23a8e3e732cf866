"""Options that several commands share mean the same in each."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

SHARED = ("ip_column", "input_format", "delimiter", "header")


def _option(command: str, name: str) -> Any:
    found = getattr(import_module(f"geolookup.cli.{command}"), command)
    (option,) = (each for each in found.params if each.name == name)
    return option


@pytest.mark.parametrize("name", SHARED)
@pytest.mark.parametrize("command", ["summarize", "diff"])
def test_table_files_are_described_by_the_same_options(command: str, name: str) -> None:
    assert _option(command, name).to_info_dict() == _option("enrich", name).to_info_dict()
    assert _option(command, name).callback is _option("enrich", name).callback
