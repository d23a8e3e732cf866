"""``geolookup summarize``: where the addresses of a file are."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import geolookup
from geolookup.cli import end_orderly, tell_of_sample
from geolookup.cli.enrich import READ, no_header

if TYPE_CHECKING:
    from geolookup.files.enrich import Place
    from geolookup.files.summarize import Summary, Thing

_WIDTH = 50


@click.command(name="summarize", short_help="Count the countries, cities and networks of a file.")
@click.argument("source", metavar="INPUT")
@click.option(
    "--ip-column", metavar="NAME", default="ip", show_default=True, help="Column of addresses."
)
@click.option(
    "--top",
    metavar="N",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="Lines of each kind.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option(
    "--dataset",
    metavar="PATH",
    help="Dataset to answer from. [default: $GEOLOOKUP_DATASET, else the bundled sample]",
)
@click.option("--input-format", type=click.Choice(READ), help="[default: by suffix; text for -]")
@click.option("--delimiter", metavar="LETTER", help="Between the cells of CSV.")
@no_header
def summarize(
    source: str,
    ip_column: str,
    top: int,
    as_json: bool,
    dataset: str | None,
    input_format: str | None,
    delimiter: str | None,
    header: bool,
) -> None:
    """Count the addresses of INPUT by country, city and network.

    INPUT is a file or folder that `geolookup enrich` reads, a plain list of
    addresses (.txt), or - for standard input. Unknown places are counted as
    such, and so are invalid and private addresses.

    Example: geolookup summarize visits.csv --top 5
    """
    from geolookup.files.summarize import Summary, count_file
    from geolookup.progress import RowProgress

    end_orderly()
    progress = RowProgress()
    with geolookup.open(dataset) as engine:
        summary = Summary(engine)
        try:
            for place in _places(source, input_format):
                count_file(
                    summary,
                    place,
                    ip_column,
                    delimiter,
                    lambda done: progress.show(summary.addresses, done),
                    header=header,
                )
        finally:
            progress.clear()
        told = _told(summary, top)
        tell_of_sample(engine)
    shown = json.dumps(told, ensure_ascii=False, indent=2) if as_json else "\n".join(_lines(told))
    click.echo(shown)


def _places(source: str, input_format: str | None) -> Iterator[Place]:
    from geolookup.files.enrich import Place
    from geolookup.files.formats import kind_of
    from geolookup.files.streams import STANDARD
    from geolookup.files.tree import files_of

    if Path(source).is_dir():
        yield from (Place(str(path), kind) for path, kind in files_of(Path(source)) if kind)
    else:
        named = input_format or ("text" if source == STANDARD else None)
        yield Place(source, kind_of(source, named, "--input-format"))


def _told(summary: Summary, top: int) -> dict[str, Any]:
    from geolookup.files.summarize import KINDS

    told: dict[str, Any] = {
        "addresses": summary.addresses,
        "located": summary.located,
        "ipv4": summary.located - summary.ipv6,
        "ipv6": summary.ipv6,
        "invalid": summary.invalid,
        "private": summary.private,
    }
    for kind, paths in KINDS.items():
        things = summary.things(kind)
        members = [path.rpartition(".")[2] for path in paths]
        told[kind] = {
            "different": len(things),
            "unknown": summary.located - sum(thing.addresses for thing in things),
            "top": [_thing(thing, members) for thing in things[:top]],
        }
    return told


def _thing(thing: Thing, members: list[str]) -> dict[str, Any]:
    return {**dict(zip(members, thing.names, strict=True)), "addresses": thing.addresses}


def _lines(told: dict[str, Any]) -> Iterator[str]:
    whole = told["addresses"]
    for name in ("addresses", "located", "ipv4", "ipv6", "invalid", "private"):
        yield _line(name, told[name], whole)
    for kind in (name for name, value in told.items() if isinstance(value, dict)):
        yield f"\n{kind}, {told[kind]['different']:,} different"
        for thing in told[kind]["top"]:
            *names, addresses = thing.values()
            yield _line("  " + ", ".join(str(n) for n in names if n is not None), addresses, whole)
        yield _line("  unknown", told[kind]["unknown"], whole)


def _line(name: str, count: int, whole: int) -> str:
    shown = name if len(name) <= _WIDTH else f"{name[: _WIDTH - 1]}…"
    share = count / whole if whole else 0.0
    return f"{shown:<{_WIDTH}} {count:>14,} {share:>8.2%}"
