"""Completion in real shells, as docs/use/shell.md sets it up, on a pseudo-terminal."""

from __future__ import annotations

import re

from geolookup.cli.options import complete_paths
from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "use" / "shell.md").read_text(encoding="utf-8")
_PATIENCE = 60.0
#: In the place of the program: prints its arguments. Completion asks the program by ``env``.
_ARGUMENTS = "geolookup() { printf 'given:%s;\\n' \"$*\"; }\n"
_PROMPT = "ready:"
_FISH_PROMPT = f"function fish_prompt; echo -n {_PROMPT}; end\nset fish_greeting\n"
#: The name of a shell's file, and what surrounds the line of the page in it.
_FILES = {
    "bash": (".bashrc", "{}" + _ARGUMENTS + f"PS1={_PROMPT}\n"),
    "zsh": (
        ".zshrc",
        "autoload -Uz compinit && compinit -u -D\n{}" + _ARGUMENTS + f"PS1={_PROMPT}\n",
    ),
    "fish": (
        "fish/config.fish",
        "{}function geolookup; printf 'given:%s;\\n' \"$argv\"; end\n" + _FISH_PROMPT,
    ),
}


def _stated(shell: str) -> str:
    """The line of the page for a shell."""
    match = re.search(rf"\*\*{shell}\*\*.*?```{shell}\n(.*?)```", PAGE, re.DOTALL)
    assert match
    return match[1]


def test_the_last_path_of_fields_is_completed() -> None:
    result = complete_paths(None, None, "ip,network.as")
    assert result == ["ip,network.asn", "ip,network.asn_organization"]
    assert "location" in complete_paths(None, None, "")
