"""``geolookup explain``: prints which source decided each layer of an answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import click

import geolookup
from geolookup.cli import json_text, note_age, options
from geolookup.cli.answer_cells import shown
from geolookup.errors import line_text

#: What is printed below a layer begins here.
_UNDER = " " * 21
#: The fields of a place that are printed; --json has all.
_PLACE = ("city_name", "region_name", "country_code", "time_zone")


@click.command(name="explain", short_help="Name the sources that decided an answer.")
@click.argument("ip", metavar="IP")
@options.dataset("Dataset or store to explain.")
@options.age_notice
@options.as_json()
def explain(ip: str, dataset: str | None, as_json: bool) -> None:
    """Print the value of each layer of the answer for IP, and the source that decided it.

    The range is that of the adjacent addresses with the same source and the same
    values; the prefix is the largest network around IP in it. For a dataset built
    with explain = "full" they are those of the deciding row, with its file and
    line, and the rows of all sources follow. --json has all fields of a place.
    Exits with 2 for a malformed or private address.

    Example: geolookup explain 8.8.8.8
    """
    with geolookup.open(dataset) as engine:
        explained = engine.explain(ip)
        note_age(engine)
    if as_json:
        click.echo(json_text(explained))
    else:
        click.echo("\n".join(map(line_text, _lines(explained))))


def _lines(explained: dict[str, Any]) -> Iterator[str]:
    yield f"{explained['ip']} in {explained['network']}"
    for layer, decided in explained["layers"].items():
        if decided is None:
            yield f"  {layer:<16} unknown"
            continue
        yield f"  {layer:<16} {_value(decided['values'])}"
        yield f"{_UNDER}{decided['prefix']}, {_range(decided)}"
        stated = [decided[name] for name in ("source", "date", "licence") if decided[name]]
        yield f"{_UNDER}{', '.join(stated)}"
    yield from _source_rows(explained.get("sources", []))


def _value(values: dict[str, Any]) -> str:
    """Return the values of a layer; of a place, where it is and its time zone, if known."""
    place = [values[name] for name in _PLACE if name in values]
    if "asn" in values:
        return " ".join(filter(None, (f"AS{values['asn']}", values.get("asn_organization"))))
    return ", ".join(map(shown, place or values.values())) or "no values"


def _range(decided: dict[str, Any]) -> str:
    """Return the range of the deciding row; else of the addresses around with its values."""
    return _row(decided["row"]) if "row" in decided else str(decided["same_values"])


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
