"""A table of a recipe, read key by key: wrong keys and values are errors that name the key."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from geolookup.errors import BuildError, DiffError, near_match

if TYPE_CHECKING:
    from geolookup.comparison.gates import Metrics


class Table:
    """A table of a recipe, read key by key; a BuildError names the key and the remedy."""

    def __init__(self, recipe: Path, name: str, values: Mapping[str, Any]) -> None:
        self.recipe, self.values = recipe, values
        self._prefix = f"{name}." if name else ""

    def __contains__(self, key: str) -> bool:
        return key in self.values

    def only(self, *keys: str) -> None:
        """Raise BuildError for a key that is not one of these."""
        for key in self.values:
            if key not in keys:
                problem = f"unknown key {self._prefix}{key}"
                raise BuildError(self.recipe, problem, remedy=near_match(key, keys))

    def refuse(self, key: str, problem: str, remedy: str) -> NoReturn:
        """Raise the BuildError of a key."""
        raise BuildError(self.recipe, f"{self._prefix}{key} {problem}", remedy=remedy)

    def table(self, key: str, *keys: str) -> Table:
        """Return a table, an empty one if it is missing; with ``keys`` it has no others."""
        values = self.values.get(key, {})
        if not isinstance(values, Mapping):
            self.refuse(key, "is not a table", f"write [{self._prefix}{key}]")
        table = Table(self.recipe, f"{self._prefix}{key}", values)
        if keys:
            table.only(*keys)
        return table

    def text(self, key: str) -> str:
        """Return a text that is not empty."""
        value = self.values.get(key)
        if not isinstance(value, str) or not value:
            problem = "is missing" if value is None else "is not a text"
            self.refuse(key, problem, f'write {key} = "…"')
        return value

    def texts(self, keys: Iterable[str]) -> dict[str, str]:
        """Return the texts that the table has."""
        return {key: self.text(key) for key in keys if key in self}

    def switch(self, key: str) -> bool:
        """Return true or false; false if it is missing."""
        value = self.values.get(key, False)
        if not isinstance(value, bool):
            self.refuse(key, "is neither true nor false", f"write {key} = true")
        return value

    def gates(self, key: str, metrics: Metrics) -> tuple[str, ...]:
        """Return gates on metrics."""
        gates = self.values[key]
        if not isinstance(gates, list) or not all(isinstance(gate, str) for gate in gates):
            self.refuse(key, "is not a list of texts", f'write {key} = ["{metrics.example}"]')
        with recipe_errors(self.recipe, f"{self._prefix}{key}: "):
            metrics.gates(gates)
        return tuple(gates)


@contextmanager
def recipe_errors(recipe: Path, before: str = "") -> Iterator[None]:
    """Raise a DiffError or the error of a value ("problem; remedy") as the BuildError of a recipe.

    ``before`` is the text before the problem.
    """
    try:
        yield
    except DiffError as error:
        problem, remedy = error.args
        raise BuildError(recipe, before + problem, remedy=remedy) from error
    except (ValueError, TypeError) as error:
        problem, _, remedy = str(error).partition("; ")
        raise BuildError(recipe, before + problem, remedy=remedy) from error
