"""The code blocks of a page, and the commands of a console session."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.conftest import ROOT

#: Every page whose examples run.
PAGES = (
    ROOT / "README.md",
    *sorted(each for each in (ROOT / "docs").rglob("*.md")),
)
_BLOCK = re.compile(
    r"^(?P<indent> *)(?P<fence>```+)(?P<kind>[^\s`]*)"
    r"(?: +(?P<name>\S+))?[^\n`]*\n"
    r"(?P<text>.*?)^(?P=indent)(?P=fence)$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """A fenced block: ``kind`` is the language, ``name`` the file that it is, or ``""``."""

    page: str
    line: int
    kind: str
    name: str
    text: str

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"


def name_of(page: Path, root: Path = ROOT) -> str:
    """The path of a page in the project, as the tables of these tests name it."""
    return page.relative_to(root).as_posix()


def blocks(page: Path, root: Path = ROOT) -> list[Block]:
    """Return the fenced blocks of a page, in order; directives of the site are no examples."""
    text = page.read_text(encoding="utf-8")
    found = []
    for match in _BLOCK.finditer(text):
        if match["kind"].startswith("{"):
            continue
        line = text.count("\n", 0, match.start()) + 1
        shown = textwrap.dedent(match["text"])
        found.append(Block(name_of(page, root), line, match["kind"], match["name"] or "", shown))
    return found


def sessions(shown: str) -> Iterator[tuple[str, str]]:
    """Yield each command of a console block, and the output that is shown below it.

    Lines after the command that begin with ``> `` belong to it, as a shell prompts for them.
    """
    for session in re.split(r"^\$ ", shown, flags=re.MULTILINE)[1:]:
        lines = session.splitlines(keepends=True)
        more = 1
        while more < len(lines) and lines[more].startswith("> "):
            more += 1
        command = "".join([lines[0], *(line[2:] for line in lines[1:more])])
        yield command.rstrip("\n"), "".join(lines[more:])
