"""The positions in Python sources that a mutant changes, by cosmic-ray's operators and our own.

Annotations, docstrings, decorators, ``TYPE_CHECKING``, ``__all__`` and the texts of logs, errors
and help are skipped: no test should depend on them.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import parso
from cosmic_ray.operators import (
    binary_operator_replacement,
    boolean_replacer,
    break_continue,
    comparison_operator_replacement,
    exception_replacer,
    number_replacer,
    unary_operator_replacement,
    zero_iteration_for_loop,
)
from parso.python import tree
from parso.tree import search_ancestor

from tests.mutate.mutant import Position

Node = Any  # of parso: it has few type hints
_parse: Any = parso.parse
_Path = tuple[int, ...]

_COMPARISONS = (
    "Eq_NotEq NotEq_Eq Lt_LtE LtE_Lt Gt_GtE GtE_Gt Lt_GtE LtE_Gt Gt_LtE GtE_Lt Is_IsNot IsNot_Is"
)
_ARITHMETIC = (
    "Add_Sub Sub_Add Mul_FloorDiv Div_Mul FloorDiv_Mul Mod_FloorDiv LShift_RShift RShift_LShift "
    "BitAnd_BitOr"
)
#: Calls whose arguments are for people.
_MESSAGES = {"debug", "info", "warning", "error", "exception", "warn", "echo", "secho", "TypeVar"}
_SWAPPED = {"name", "atom_expr", "power", "string"}
_OPTIONS_FOR_PEOPLE = {"help", "remedy", "encoding", "metavar", "short_help", "epilog", "prog_name"}


class DropStatement:
    """Removes a call whose result is not used, or an augmented assignment."""

    def mutation_positions(self, node: Node) -> Iterator[tuple[Any, Any]]:
        if node.type == "simple_stmt" and self._is_dropped(node.children[0]):
            yield node.start_pos, node.end_pos

    def _is_dropped(self, statement: Node) -> bool:
        if statement.type == "expr_stmt":
            return bool(statement.children[1].get_code().strip().endswith("=")) and (
                statement.children[1].type == "operator" and statement.children[1].value != "="
            )
        return statement.type in ("atom_expr", "power") and statement.get_code().endswith(")")

    def mutate(self, node: Node, index: int) -> Node:
        statement = node.children[0]
        node.children[0] = tree.Name("pass", statement.start_pos, statement.get_first_leaf().prefix)
        return node


class SwapNeighbours:
    """Swaps two adjacent arguments or tuple items of the same type of node."""

    def mutation_positions(self, node: Node) -> Iterator[tuple[Any, Any]]:
        for _ in self._pairs(node):
            yield node.start_pos, node.end_pos

    def _pairs(self, node: Node) -> Iterator[int]:
        if node.type not in ("arglist", "testlist_comp", "testlist_star_expr"):
            return
        holder = node.parent.parent
        if holder.type == "comparison" or holder.get_code().strip().startswith("isinstance"):
            return  # the order does not matter
        for at in range(0, len(node.children) - 2, 2):
            one, other = node.children[at], node.children[at + 2]
            codes = {one.get_code().strip(), other.get_code().strip()}
            if one.type == other.type and one.type in _SWAPPED and len(codes) == 2:
                yield at

    def mutate(self, node: Node, index: int) -> Node:
        at = list(self._pairs(node))[index]
        one, other = node.children[at], node.children[at + 2]
        leaves = one.get_first_leaf(), other.get_first_leaf()
        leaves[0].prefix, leaves[1].prefix = leaves[1].prefix, leaves[0].prefix
        node.children[at], node.children[at + 2] = other, one
        return node


class ChangeWord:
    """Changes a string without spaces: a key, a name, a separator."""

    def mutation_positions(self, node: Node) -> Iterator[tuple[Any, Any]]:
        if node.type == "string" and " " not in node.value and '"""' not in node.value:
            yield node.start_pos, node.end_pos

    def mutate(self, node: Node, index: int) -> Node:
        node.value = f"{node.value[:-1]}X{node.value[-1]}"
        return node


def _of_cosmic_ray() -> Iterator[tuple[str, Any]]:
    for module, prefix, names in (
        (comparison_operator_replacement, "ReplaceComparisonOperator_", _COMPARISONS),
        (binary_operator_replacement, "ReplaceBinaryOperator_", _ARITHMETIC),
        (unary_operator_replacement, "ReplaceUnaryOperator_", "Delete_Not Delete_USub"),
        (boolean_replacer, "Replace", "TrueWithFalse FalseWithTrue AndWithOr OrWithAnd"),
        (boolean_replacer, "", "AddNot"),
        (break_continue, "Replace", "BreakWithContinue ContinueWithBreak"),
        (exception_replacer, "", "ExceptionReplacer"),
        (number_replacer, "", "NumberReplacer"),
        (zero_iteration_for_loop, "", "ZeroIterationForLoop"),
    ):
        for name in names.split():
            yield name, getattr(module, prefix + name)()


_OPERATORS: dict[str, Any] = {
    **dict(_of_cosmic_ray()),
    "DropStatement": DropStatement(),
    "SwapNeighbours": SwapNeighbours(),
    "ChangeWord": ChangeWord(),
}


def positions(root: Path, file: str) -> Iterator[Position]:
    """Yield the positions of all operators in a file, in the order of its text."""
    source = (root / file).read_text(encoding="utf-8")
    for node, path in _nodes(_parse(source), ()):
        for name, operator in _OPERATORS.items():
            if _is_skipped(node, name):
                continue
            for index, (start, _) in enumerate(operator.mutation_positions(node)):
                yield Position(
                    file,
                    _function(node),
                    name,
                    start[0],
                    source,
                    _change(source, path, name, index),
                )


def _change(source: str, path: _Path, name: str, index: int) -> Any:
    def changed_source() -> str:
        module = node = _parse(source)
        for at in path:
            node = node.children[at]
        parent = node.parent
        try:
            replacement = _OPERATORS[name].mutate(node, index)
        except AttributeError:  # cosmic-ray does not support dotted names of exceptions
            return source
        if replacement.type == "number":
            replacement.value = replacement.value.strip()
            replacement.prefix = node.prefix
        if parent is not None:
            parent.children[path[-1]] = replacement
        code: str = module.get_code()
        return code if _compiles(code) else source

    return changed_source


def _compiles(code: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(code, "mutant", "exec")
    except SyntaxError:
        return False
    return True


def _nodes(node: Node, path: _Path) -> Iterator[tuple[Node, _Path]]:
    yield node, path
    for at, child in enumerate(getattr(node, "children", ())):
        if not _is_for_people(child):
            yield from _nodes(child, (*path, at))


def _is_for_people(node: Node) -> bool:
    """Return whether a node and its children are skipped: types, messages, hints for tools."""
    parent = node.parent
    if node.type in ("decorator", "decorators", "tfpdef", "import_name", "import_from"):
        return True
    if parent.type == "annassign":
        return bool(node is parent.children[1])
    if parent.type in ("funcdef", "lambdef") and node is parent.annotation:
        return True
    if node.type == "if_stmt":
        condition: str = node.children[1].get_code().strip()
        return condition.startswith(("TYPE_CHECKING", "__name__"))
    if node.type == "argument" and node.children[0].get_code().strip() in _OPTIONS_FOR_PEOPLE:
        return True
    if node.type == "simple_stmt":
        statement = node.children[0]
        if statement.type == "string":
            return True
        words = statement.get_code().strip().partition("(")[0].split(".")
        return words[0].startswith("__all__") or words[-1] in _MESSAGES
    return False


def _is_skipped(node: Node, operator: str) -> bool:
    """Return whether an operator skips a node: in a message, or a change without a meaning."""
    if operator in ("ChangeWord", "SwapNeighbours"):
        return search_ancestor(node, "raise_stmt", "assert_stmt") is not None
    if operator in _ARITHMETIC.split() and node.parent is not None:
        parts = (part.get_first_leaf().value for part in node.parent.children)
        return any(part[:1] in "\"'" for part in parts)  # joins a path or strings
    if operator == "AddNot" and node.type in ("if_stmt", "while_stmt"):
        return bool(node.children[1].get_first_leaf().value == "not")  # the same as Delete_Not
    return False


def _function(node: Node) -> str:
    names: list[str] = []
    while node is not None:
        if node.type in ("funcdef", "classdef"):
            names.insert(0, node.name.value)
        node = node.parent
    return ".".join(names) or "<module>"
