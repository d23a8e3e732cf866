"""``geolookup fields``: lists the paths of an answer."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from geolookup.cli import json_text

if TYPE_CHECKING:
    from geolookup.contract.display import FieldInfo


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
    """List every path of an answer, with its type, unit, an example and meaning.

    `lookup --fields` and `enrich --fields` take these paths.

    Example: geolookup fields
    """
    from geolookup.contract import display

    infos = display.fields()
    click.echo(json_text([info._asdict() for info in infos]) if form == "json" else _table(infos))


def _table(infos: tuple[FieldInfo, ...]) -> str:
    """Return a line for each path; the last column is the longest, so it is not padded."""
    rows = [(info.path, info.type, info.unit, _example(info), info.meaning) for info in infos]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
    return "\n".join(lines).replace("`", "")


def _example(info: FieldInfo) -> str:
    if info.example is None:
        return ""
    return info.example if isinstance(info.example, str) else json.dumps(info.example)
