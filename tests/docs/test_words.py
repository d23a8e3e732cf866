"""Plain words in code, help and pages: no phrase of the table, and names with a meaning."""

from __future__ import annotations

import ast
import os
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
#: Names that say nothing of their value.
_NAMES = {"found", "each", "chosen", "given", "rest", "place", "what"}
_CANDIDATE = re.compile(
    rf"(?:\b(?:def|class|for|as|lambda) |[(,*.] ?|^ *)_?(?:{'|'.join(sorted(_NAMES))})"
    r"(?:\s*(?:=[^=]|[:,)(])| in\b)",
    re.MULTILINE | re.IGNORECASE,
)
_IMPORTS = re.compile(r"^(?:from|import) .*", re.MULTILINE)
_PARTICIPLE = re.compile(
    r"^ *class (_?(?:[A-Z][a-z]+ed|Found|Known|Kept|Seen|Shown|Written|Built))\b", re.MULTILINE
)
_SUFFIXES = (".py", ".pyx", ".pxi", ".pxd", ".h", ".js", ".md", ".toml", ".conf", ".service")
_FOLDERS = ("geolookup", "builder", "benchmarks", "docs", "tests", ".ci")
_NOT_OURS = {"corpus", "published", "build", "__pycache__", "outlines"}


def _texts() -> dict[str, str]:
    """Return the sources and pages of the project by path."""
    paths = [*ROOT.glob("*.md"), ROOT / "setup.py", ROOT / "pyproject.toml"]
    for folder in _FOLDERS:
        for parent, folders, names in os.walk(ROOT / folder):
            folders[:] = set(folders) - _NOT_OURS
            wanted = [name for name in names if name.endswith(_SUFFIXES) or folder == ".ci"]
            paths += [ROOT / parent / name for name in wanted]
    return {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in paths}


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    return _texts()


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


def test_no_source_and_no_page_has_such_a_phrase(texts: dict[str, str]) -> None:
    ours = {path: text for path, text in texts.items() if not path.startswith("tests/")}
    assert len(ours) > 500
    assert [line for path, text in ours.items() for line in _problems(path, text)] == []


def test_no_help_has_such_a_phrase() -> None:
    helps = dict(_helps(program))
    assert len(helps) > 30
    assert [line for path, text in helps.items() for line in _problems(path, text)] == []


def _names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield line and name of the definitions, parameters and variables of a module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.lineno, node.name
        elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id if isinstance(node, ast.Name) else node.attr
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg


def test_names_have_a_meaning(texts: dict[str, str]) -> None:
    """Variables, functions and classes; a class has no participle for a name."""
    modules = {path: text for path, text in texts.items() if path.endswith(".py")}
    assert len(modules) > 800
    problems = []
    for path, text in modules.items():
        problems += [f"{path}: class {name}; use a noun" for name in _PARTICIPLE.findall(text)]
        if _CANDIDATE.search(_IMPORTS.sub("", text)):
            problems += [
                f"{path}:{line}: {name!r}; name the value"
                for line, name in _names(ast.parse(text))
                if name.strip("_").lower() in _NAMES
            ]
    assert problems == []


@pytest.mark.parametrize(
    "text",
    ["# what\n    # is left", "'so '\n    'that it'", "which is none", "a file, which", "That of"],
)
def test_a_phrase_is_reported(text: str) -> None:
    assert list(_problems("a.py", text))


@pytest.mark.parametrize("text", ["is no longer", "there is no", "standalone", "is not", "alone="])
def test_other_text_is_not(text: str) -> None:
    assert list(_problems("a.py", text)) == []
