"""``geolookup history``: prints when answers changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from geolookup.cli import options, table_options
from geolookup.cli.command import command
from geolookup.cli.explain import print_each
from geolookup.cli.terminal_text import value_text
from geolookup.contract.fields import STORED
from geolookup.errors import short_id

if TYPE_CHECKING:
    from geolookup.history.timeline import Change, History

_UNKNOWN = "unknown"
_COUNTRY = "location.country_code"
#: The fields that follow from the country.
_FOLLOWING = {field.path for field in STORED if not field.source_column}
#: The width of names.
_WIDTH = 28


@command("history")
@click.argument("addresses", metavar="IP|PREFIX...", nargs=-1, required=True)
@options.plain_dataset
@options.fields("compare", "all")
@table_options.clean
@options.as_json("Print one line of JSON for each IP or PREFIX.")
def history(
    addresses: tuple[str, ...],
    dataset: str | None,
    paths: tuple[str, ...],
    as_json: bool,
    clean: bool,
) -> None:
    """Print each change of the answer for IP in a store, and the sources that decided it.

    The newest change is the first; the first known answer of an IP is printed last. A change
    begins with the time when its generation came into force. If the country changed, fields
    that follow from it are left out; --json has them. For a PREFIX such as 8.8.8.0/24
    there is a change for each range that changed alike. With --as-of the history ends with
    the generation that was in force then. For -, it reads standard input, one per line.
    Exits with 1 if an IP is malformed, or private without private own columns, and with 2
    for misuse or an unusable store.

    Example: geolookup history 8.8.8.8 --dataset /srv/geo
    """
    lines = None if as_json else partial(_lines, every=bool(paths))
    with options.open_dataset(dataset) as engine:
        options.note_age(engine)

        def answer(address: object) -> History | dict[str, Any]:
            result = engine.history(address, paths, clean=clean)
            return asdict(result) if as_json else result

        print_each(addresses, answer, lines)


def _lines(history: History, *, every: bool) -> Iterator[str]:
    """Yield the lines of a history; with ``every`` no field is left out."""
    yield history.ip
    for change in history.changes:
        yield from _change_lines(change, every=every)
    first = history.first
    since = "first known" if history.changes else "no change since the first known"
    yield f"{first.since}  {since} generation {short_id(first.generation)}"
    for path, value in (first.fields or {}).items():
        if every or path not in _FOLLOWING:
            yield f"  {path:<{_WIDTH}} {value_text(value)}"


def _change_lines(change: Change, *, every: bool) -> Iterator[str]:
    addresses = f", {change.first}-{change.last}" if change.first != change.last else ""
    yield f"{change.since}  generation {short_id(change.generation)}{addresses}"
    if change.before_until != change.since:
        yield f"  {'unknown from':<{_WIDTH}} {change.before_until}: pruned"
    hides = not every and _COUNTRY in change.fields
    for layer, changed in change.layers.items():
        for path, pair in changed.fields.items():
            if not (hides and path in _FOLLOWING):
                yield f"  {path:<{_WIDTH}} {_before_after(*map(_value, pair))}"
        sources = [source or _UNKNOWN for source in changed.sources]
        yield f"  {'source of ' + layer:<{_WIDTH}} {_before_after(*sources)}"


def _before_after(before: str, after: str) -> str:
    return after if before == after else f"{before} -> {after}"


def _value(value: Any) -> str:
    return _UNKNOWN if value is None else value_text(value)
