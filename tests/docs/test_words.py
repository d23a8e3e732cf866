"""Plain words in help and pages: no phrase of the table."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product

import click
import pytest

from geolookup.cli.program import program
from tests.conftest import ROOT


def _pairs(first: str, second: str) -> list[str]:
    return [f"{one} {other}" for one, other in product(first.split(), second.split())]


#: Phrases by the remedy.
_REMEDIES: dict[str, list[str]] = {
    "name the thing with a noun": _pairs("what", "is are was were it its they their"),
    "repeat the noun, or use a genitive": _pairs("that those", "of"),
    "begin a sentence": [", which", *_pairs("by of", "which")],
    "end the sentence; the next one states the consequence": ["so that"],
    "write 'unchanged'": ["as it is", "as it was", "as they are", "as they were"],
    "write 'is not' or 'has no'": _pairs("is are was were", "no none"),
    "write 'if'": ["where there is", "where there are"],
    "write 'only'": ["alone"],
    "write 'can be'": ["may have been", "might have been"],
    "write 'instead of'": ["in place of"],
    "name who states it": _pairs("is are was were", "stated"),
}
_PHRASES = {phrase: remedy for remedy, phrases in _REMEDIES.items() for phrase in phrases}
#: Blanks, and the ends of lines of comments and of the parts of a literal.
_GAP = r"""(?:[ \t]|["']?\n[ \t]*(?:\#:?|//|[*>](?=[ ])|f?["'])?)+"""
#: Before a phrase (except there is no file), and behind it.
_BEFORE, _AFTER = r"(?<![\w-])(?<!here\s)", r"(?![\w-]|[:=)\]]| (?:longer|more)\b)"


def _problems(path: str, text: str) -> Iterator[str]:
    """Yield a line for each phrase of the table in a text, however its lines are broken."""
    if path.endswith(".md"):  # but not in the examples of a page
        example = re.compile(r"^( *)```.*?^\1```", re.MULTILINE | re.DOTALL)
        text = example.sub(lambda match: "\n" * match[0].count("\n"), text)
    plain = " ".join(re.sub(r"""["']\s*\n\s*f?["']|\n\s*(?:#:?|//|[*>])""", " ", text).split())
    for phrase, remedy in _PHRASES.items():
        if phrase[1:] not in plain:
            continue
        begin = "" if phrase.startswith(",") else _BEFORE
        pattern = f"{begin}(?i:{phrase[0]}){phrase[1:].replace(' ', _GAP)}{_AFTER}"
        for match in re.finditer(pattern, text):
            line = text.count("\n", 0, match.start()) + 1
            yield f"{path}:{line}: {phrase!r}; {remedy}"


def _helps(
    command: click.Command, parent: click.Context | None = None
) -> Iterator[tuple[str, str]]:
    """Yield a command and the commands below it by their paths, with their help."""
    context = click.Context(command, parent=parent, info_name=command.name)
    yield context.command_path, command.get_help(context)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from _helps(below, context)


def test_no_page_has_such_a_phrase() -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    texts = {str(page.relative_to(ROOT)): page.read_text(encoding="utf-8") for page in pages}
    assert [line for path, text in texts.items() for line in _problems(path, text)] == []


def test_no_help_has_such_a_phrase() -> None:
    helps = dict(_helps(program))
    assert [line for path, text in helps.items() for line in _problems(path, text)] == []


@pytest.mark.parametrize(
    "text",
    ["# what\n    # is left", "'so '\n    'that it'", "which is none", "a file, which", "That of"],
)
def test_a_phrase_is_reported(text: str) -> None:
    assert list(_problems("a.py", text))


@pytest.mark.parametrize("text", ["is no longer", "there is no", "standalone", "is not", "alone="])
def test_other_text_is_not(text: str) -> None:
    assert list(_problems("a.py", text)) == []
