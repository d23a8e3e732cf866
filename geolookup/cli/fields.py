"""``geolookup fields``: lists the paths of an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from geolookup.cli import json_text

if TYPE_CHECKING:
    from geolookup.contract.described import FieldInfo


@click.command(name="fields", short_help="List the fields of an answer.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
    help="A table, or a JSON array.",
)
def fields(form: str) -> None:
    """List every path of an answer, with its type, unit and meaning.

    `lookup --fields` and `enrich --fields` take these paths.

    Example: geolookup fields
    """
    from geolookup.contract.described import fields as described

    click.echo(_json(described()) if form == "json" else _table(described()))


def _json(listed: tuple[FieldInfo, ...]) -> str:
    return json_text([each._asdict() for each in listed])


def _table(listed: tuple[FieldInfo, ...]) -> str:
    path, kind, unit = (max(len(each[at]) for each in listed) for at in range(3))
    lines = [
        f"{each.path:<{path}}  {each.type:<{kind}}  {each.unit:<{unit}}  {each.meaning}"
        for each in listed
    ]
    return "\n".join(lines).replace("`", "")
