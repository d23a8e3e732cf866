"""Conditions of ``geolookup prefixes`` and ``geolookup grep``: their errors and notices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from geolookup.cli.options import usage_errors

if TYPE_CHECKING:
    from geolookup.dataset.files import Dataset
    from geolookup.prefixes.conditions import Condition


def read_conditions(
    dataset: Dataset, where: tuple[str, ...], where_name: str, not_: tuple[str, ...]
) -> tuple[Condition, ...]:
    """Return the conditions of both options; exits with status 2 for a malformed one.

    ``where_name`` is the option, or the command, that states the conditions to meet.
    """
    from geolookup.prefixes.conditions import conditions_of

    with usage_errors():
        return (
            *conditions_of(where, where_name, dataset.schema),
            *conditions_of(not_, "--not", dataset.schema, negated=True),
        )


def note_absent_values(dataset: Dataset, conditions: tuple[Condition, ...]) -> None:
    """Print a line for each value that no answer of the dataset has.

    Exits with status 2 for a value that no answer can have.
    """
    from geolookup.prefixes.condition_values import absent_values, check_values
    from geolookup.tables.row_tables import row_tables

    tables = row_tables(dataset)
    with usage_errors():
        check_values(tables, conditions)
    for line in absent_values(tables, conditions):
        click.echo(f"geolookup: {line}", err=True)
