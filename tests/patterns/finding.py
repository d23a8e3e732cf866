"""Every pattern of ``re`` in both packages, and whether a text is searched for it.

Patterns of pyarrow.compute are not among them: RE2 matches them in linear time.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from tests.test_imports import PACKAGES

#: Methods that try a match at each position of a text; the others try it at one.
_SEARCHING = {"search", "findall", "finditer", "sub", "subn", "split"}
_MENTIONS = re.compile(rf"\nimport re\n|\.(?:{'|'.join(sorted(_SEARCHING))})\(|in_first_lines\(")
_CALLS = {*_SEARCHING, "compile", "match", "fullmatch"}


class UsedPattern(NamedTuple):
    """A pattern, by the name of its module and constant or function."""

    name: str
    pattern: re.Pattern[Any]
    is_searched: bool


def constants() -> Iterator[UsedPattern]:
    """Yield the patterns in constants of modules, also those in tables."""
    searched = _searched()
    for name in _modules():
        for member, value in list(vars(import_module(name)).items()):
            for pattern in _patterns(value, depth=3):
                owner = name if member.startswith("_") else ""
                yield UsedPattern(f"{name}.{member}", pattern, (owner, member) in searched)


def literals() -> Iterator[UsedPattern]:
    """Yield the literal patterns of calls of ``re`` inside functions."""
    for name, tree in _trees():
        for function in ast.walk(tree):
            if isinstance(function, ast.FunctionDef):
                for method, argument in _re_calls(function):
                    if isinstance(argument, ast.Constant) and isinstance(
                        argument.value, str | bytes
                    ):
                        pattern = re.compile(argument.value)
                        yield UsedPattern(f"{name}.{function.name}", pattern, method in _SEARCHING)


def assembled() -> set[str]:
    """Return the functions that give ``re`` anything but a literal, by module and name."""
    return {
        f"{name}.{function.name}"
        for name, tree in _trees()
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for _, argument in _re_calls(function)
        if not isinstance(argument, ast.Constant)
    }


def of_dates() -> Iterator[UsedPattern]:
    """Yield the literals that formats give to ``in_first_lines``: it searches bytes for them."""
    for name, _, tree in _sources():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "in_first_lines":
                pattern = re.compile(ast.literal_eval(node.args[0]).encode())
                yield UsedPattern(name, pattern, is_searched=True)


def _modules() -> Iterator[str]:
    return (name for name, _ in _trees() if not name.endswith((".__main__", ".generate")))


def _trees() -> Iterator[tuple[str, ast.Module]]:
    """Yield the modules that import ``re``, and their trees."""
    return ((name, tree) for name, text, tree in _sources() if "\nimport re\n" in text)


@cache
def _sources() -> list[tuple[str, str, ast.Module]]:
    """Return name, text and tree of the modules that may call a method of a pattern."""
    files = (
        (_module_name(path, folder), path.read_text(encoding="utf-8"))
        for folder in PACKAGES.values()
        for path in sorted(folder.rglob("*.py"))
    )
    return [(name, text, ast.parse(text)) for name, text in files if _MENTIONS.search(text)]


def _module_name(path: Path, folder: Path) -> str:
    parts = path.relative_to(folder.parent).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def _re_calls(tree: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == "re"
            and node.func.attr in _CALLS
        ):
            yield node.func.attr, node.args[0]


def _searched() -> set[tuple[str, str]]:
    """Return the constants that are searched for: module (empty if the name is public) and name."""
    searched = set()
    for module, _, tree in _sources():
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr in _SEARCHING:
                name = getattr(node.value, "id", getattr(node.value, "attr", ""))
                searched.add((module if name.startswith("_") else "", name))
    return searched


def _patterns(value: Any, depth: int) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    for member in _members(value) if depth else ():
        yield from _patterns(member, depth - 1)


def _members(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    if isinstance(value, (tuple, list, set, frozenset)):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, field.name) for field in fields(value)]
    return ()
