"""What the tests of readers share: recipes of one source, and errors that are one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from geolookup.errors import BuildError
from tests.conftest import build_at


def one(format_: str, path: str, *options: str) -> str:
    """A recipe of one source; ``options`` are lines of TOML."""
    lines = "\n".join(options)
    return f'[dataset]\nname = "t"\n[[source]]\nformat = "{format_}"\npath = "{path}"\n{lines}\n'


def refused(folder: Path, name: str, content: str | bytes, text: str) -> BuildError:
    """The one-line error that a file ends a build with, every row being allowed to be bad."""
    with pytest.raises(BuildError) as caught:
        build_at(folder, {name: content}, text)
    assert "\n" not in str(caught.value)
    assert caught.value.remedy
    return caught.value
