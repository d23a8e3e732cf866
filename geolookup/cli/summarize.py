"""``geolookup summarize``: counts the addresses of files by country, city and network."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

import geolookup
from geolookup.cli import exit_on_signals, json_text, note_age, options

if TYPE_CHECKING:
    from geolookup.files.summarize import Count, Summary

_WIDTH = 50


@click.command(name="summarize", short_help="Count the countries, cities and networks of a file.")
@click.argument("source", metavar="INPUT", type=options.PATH)
@options.table_input
@options.clean
@options.top
@options.as_json()
@options.dataset()
@options.age_notice
def summarize(
    source: str,
    ip_column: str,
    input_format: str | None,
    delimiter: str | None,
    header: bool,
    clean: bool,
    top: int,
    as_json: bool,
    dataset: str | None,
) -> None:
    """Count the addresses of INPUT by country, city and network.

    INPUT is a file or folder that `geolookup enrich` reads, or - for standard
    input, by default with one address per line. An address is located if anything is
    known about it. Unknown, invalid and private addresses are counted separately.

    Example: geolookup summarize visits.csv --top 5
    """
    from geolookup.files.summarize import Summary, count_files
    from geolookup.files.table_files import AddressColumn, table_files

    exit_on_signals()
    column = AddressColumn(ip_column, delimiter, header, clean)
    with geolookup.open(dataset) as engine:
        summary = Summary(engine)
        count_files(summary, table_files(source, input_format), column)
        document = _document(summary, top)
        for each in summary.malformed:
            click.echo(each, err=True)
        note_age(engine)
    text = json_text(document) if as_json else _text(document)
    click.echo(text)


def _document(summary: Summary, top: int) -> dict[str, Any]:
    from geolookup.files.summarize import KINDS

    document: dict[str, Any] = {**summary.totals()}
    for kind, paths in KINDS.items():
        counts = summary.by(kind)
        names = [path.rpartition(".")[2] for path in paths]
        document[kind] = {
            "different": len(counts),
            "unknown": summary.public - sum(each.addresses for each in counts),
            "top": [_object(each, names) for each in counts[:top]],
        }
    return document


def _object(count: Count, names: list[str]) -> dict[str, Any]:
    return {**dict(zip(names, count.members, strict=True)), "addresses": count.addresses}


def _text(document: dict[str, Any]) -> str:
    return "\n".join(_lines(document))


def _lines(document: dict[str, Any]) -> Iterator[str]:
    total = document["addresses"]
    for name, number in document.items():
        if isinstance(number, int):
            yield _line(name, number, total)
    for kind in (name for name, value in document.items() if isinstance(value, dict)):
        yield f"\n{kind}, {document[kind]['different']:,} different"
        for each in document[kind]["top"]:
            *names, addresses = each.values()
            yield _line("  " + ", ".join(str(n) for n in names if n is not None), addresses, total)
        yield _line("  unknown", document[kind]["unknown"], total)


def _line(name: str, count: int, total: int) -> str:
    shown = name if len(name) <= _WIDTH else f"{name[: _WIDTH - 1]}…"
    share = count / total if total else 0.0
    return f"{shown:<{_WIDTH}} {count:>14,} {share:>8.2%}"
