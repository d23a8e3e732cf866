"""``geolookup explain``: prints which source decided each layer of an answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import click

import geolookup
from geolookup.cli import note_age, options
from geolookup.errors import line_text


@click.command(name="explain", short_help="Name the sources that decided an answer.")
@click.argument("ip", metavar="IP")
@options.dataset("Dataset or store to explain.")
@options.age_notice
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def explain(ip: str, dataset: str | None, as_json: bool) -> None:
    """Print which source decided each layer of the answer for IP, and in which range.

    For a dataset built with explain = "full" also print the rows of all sources.
    Exits with 2 for a malformed or private address.

    Example: geolookup explain 8.8.8.8
    """
    with geolookup.open(dataset) as engine:
        explained = engine.explain(ip)
        note_age(engine)
    if as_json:
        click.echo(json.dumps(explained, ensure_ascii=False, indent=2))
    else:
        click.echo("\n".join(map(line_text, _lines(explained))))


def _lines(explained: dict[str, Any]) -> Iterator[str]:
    yield f"{explained['ip']} in {explained['network']}"
    for layer, decided in explained["layers"].items():
        if decided is None:
            yield f"  {layer:<16} unknown"
            continue
        yield f"  {layer:<16} {decided['source']}"
        stated = [decided[name] for name in ("range", "date", "licence") if decided[name]]
        yield f"  {'':<16}   {', '.join(stated)}"
        if "row" in decided:
            yield f"  {'':<16}   {_row(decided['row'])}"
    yield from _source_rows(explained.get("sources", []))


def _source_rows(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the row of each source, whether it decided a layer or not."""
    if rows:
        yield "rows of the sources, in order of precedence"
    for row in rows:
        yield f"  {row['source']}, {_row(row)}"
        for layer, values in row["values"].items():
            yield f"    {layer:<16} {json.dumps(values, ensure_ascii=False)}"
        if not row["values"]:
            yield "    no values"


def _row(row: dict[str, Any]) -> str:
    line = f":{row['line']}" if row["line"] else ""
    return f"{row['file']}{line} states {row['range']}"
