"""``geolookup lookup``, ``explain`` and ``history``: answers, their sources and their changes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

import click

from geolookup.cli import options, require_output, say, table_options, text_of
from geolookup.cli.address_input import blocks
from geolookup.cli.answer_formats import FORMATS, Question
from geolookup.cli.answers import end, print_answers
from geolookup.cli.command import command
from geolookup.cli.options import option
from geolookup.cli.terminal_text import value_text
from geolookup.contract.address import effective, parse
from geolookup.contract.envelope import failure, to_json
from geolookup.contract.fields import OWN_PREFIX, STORED
from geolookup.contract.paths import resolve_fields
from geolookup.contract.special import special_block
from geolookup.errors import AddressError, PrivateAddressError, short_id
from geolookup.kernel.lookups import state_of

if TYPE_CHECKING:
    from geolookup.history.timeline import Change, History

#: The indent of lines below a layer.
_UNDER = " " * 21
#: The fields of a place that are printed; --json has all.
_PLACE_MEMBERS = ("city_name", "region_name", "country_code", "time_zone")

_UNKNOWN = "unknown"
#: The fields that follow from the country.
_FOLLOWING = {field.path for field in STORED if not field.source_column}
#: The width of names.
_WIDTH = 28


@command("lookup")
@click.argument("addresses", metavar="[IP]...", nargs=-1)
@options.fields("print", "all")
@option(
    "--format",
    "Format of the answers. [default: table on a terminal, else json]",
    click.Choice(list(FORMATS)),
    name="form",
)
@option(
    "--compact/--indent",
    "JSON with one line per answer, or indented. [default: indented on a terminal]",
    default=None,
)
@option(
    "--local-time-at INSTANT",
    "Instant of local times: ISO 8601 with offset, or Unix seconds. [default: now]",
    options.Parsed(options.instant_in),
    name="at",
)
@table_options.clean
@options.dataset
def lookup(addresses: tuple[str, ...], dataset: str | None, **values: Any) -> None:
    """Print the answer for each IP; `geolookup IP` does the same.

    A terminal gets a table of place, local time, network and prefix, or of the
    --fields. A pipe gets JSON, one envelope per line. csv has a column for each
    field; without --fields also error_code. To see the address, name ip in --fields.
    Without IP, or for -, it reads addresses from standard input, one per line, and
    prints each answer when its line has arrived. Errors of lines are also on standard
    error, with the number of the line. Exits with 0 if every answer is a success, 1 if an
    answer is an error envelope, and 2 for misuse or an unusable dataset.

    Example: geolookup lookup 8.8.8.8 2001:4860:4860::8888 --format json
    """
    require_output("answers are written there")
    form, at, paths = (values.pop(name) for name in ("form", "at", "paths"))
    with options.open_dataset(dataset) as engine:
        fields = resolve_fields(paths, state_of(engine).dataset.schema.columns, "--fields") or None
        failures = print_answers(addresses, Question(engine, fields, **values), form, at)
    end(addresses, failures, clean=values["clean"])


@command("explain")
@click.argument("addresses", metavar="IP...", nargs=-1, required=True)
@options.dataset
@option("--json", "Print one line of JSON for each IP.", name="as_json")
def explain(addresses: tuple[str, ...], dataset: str | None, as_json: bool) -> None:
    """Print each layer of the answer for each IP, and the source that decided it.

    The first line shows the largest network around IP with one answer. "same
    sources" is the range of adjacent addresses that the same sources decide; their
    answers can differ. A layer has the largest network around IP, and the range, with
    the same source and values. --json has all fields of each layer. For -, it reads
    addresses from standard input, one per line. Exits with 1 if an IP is malformed, or
    private in a dataset without private own columns; --json prints the error envelope.

    Example: geolookup explain 8.8.8.8
    """
    with options.open_dataset(dataset) as engine:
        _print_each(addresses, engine.explain, None if as_json else _lines)


def _print_each(
    addresses: tuple[str, ...],
    answer: Callable[[object], Any],
    lines: Callable[[Any], Iterator[str]] | None,
) -> NoReturn:
    """Print the answers for addresses, and errors with their positions; exit with 1 if any failed.

    ``lines`` makes the text of an answer; None: answers are printed as JSON, and error envelopes.
    """
    has_errors = False
    for block in blocks(addresses):
        for position, address in block.items():
            try:
                result = answer(address)
            except AddressError as error:
                has_errors = True
                if lines is None:
                    click.echo(to_json(failure(type(error))))
                say(f"geolookup: {position}: {error}{_purpose(error)}")
            else:
                click.echo(to_json(result) if lines is None else text_of(lines(result)))
    sys.exit(1 if has_errors else 0)


def _purpose(error: AddressError) -> str:
    """Return the special purpose that makes an address private; "" for a malformed one."""
    if not isinstance(error, PrivateAddressError):
        return ""
    block = special_block(*effective(*parse(error.address)))
    return f": {block.name}, {block.rfc}" if block else ""


def _lines(explained: dict[str, Any]) -> Iterator[str]:
    yield f"{explained['ip']} in {explained['network']}"
    yield f"  {'same sources':<16} {explained['same_sources']}"
    for layer, decided in explained["layers"].items():
        if decided is None:
            yield f"  {layer:<16} unknown"
            continue
        yield f"  {layer:<16} {_value(decided['values'])}"
        yield f"{_UNDER}{decided['prefix']}, {decided['same_values']}"
        via = f"by way of dataset {decided['dataset']}" if "dataset" in decided else None
        origin = decided["source"], via, decided["date"], decided["licence"]
        yield f"{_UNDER}{', '.join(filter(None, origin))}"


def _value(values: dict[str, Any]) -> str:
    """Return the values of a layer; of a location its place names and time zone, if known."""
    if len(values) > 1 and all(name.startswith(OWN_PREFIX) for name in values):
        return ", ".join(f"{name} {value_text(value)}" for name, value in values.items())
    location = [values[name] for name in _PLACE_MEMBERS if name in values]
    if "asn" in values:
        return " ".join(filter(None, (f"AS{values['asn']}", values.get("asn_organization"))))
    return ", ".join(map(value_text, location or values.values())) or "no values"


@command("history")
@click.argument("addresses", metavar="IP|PREFIX...", nargs=-1, required=True)
@options.plain_dataset
@options.fields("compare", "all")
@table_options.clean
@option("--json", "Print one line of JSON for each IP or PREFIX.", name="as_json")
def history(addresses: tuple[str, ...], dataset: str | None, as_json: bool, **values: Any) -> None:
    """Print each change of the answer for IP in a store, and the sources that decided it.

    The newest change is the first; the first known answer of an IP is printed last. If the
    country changed, fields that follow from it are left out; --json has them. For a PREFIX
    such as 8.8.8.0/24 there is a change for each range that changed alike. For -, it reads
    standard input, one per line. Exits with 1 if an IP is malformed, or private without
    private own columns, and with 2 for misuse or an unusable store.

    Example: geolookup history 8.8.8.8 --dataset /srv/geo
    """
    lines = None if as_json else partial(_history_lines, every=bool(values["paths"]))
    with options.open_dataset(dataset) as engine:

        def answer(address: object) -> History | dict[str, Any]:
            result = engine.history(address, values["paths"], clean=values["clean"])
            return asdict(result) if as_json else result

        _print_each(addresses, answer, lines)


def _history_lines(history: History, *, every: bool) -> Iterator[str]:
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
    hides = not every and "location.country_code" in change.fields
    for layer, changed in change.layers.items():
        for path, pair in changed.fields.items():
            if not (hides and path in _FOLLOWING):
                yield f"  {path:<{_WIDTH}} {_before_after(*map(_known, pair))}"
        sources = [source or _UNKNOWN for source in changed.sources]
        yield f"  {'source of ' + layer:<{_WIDTH}} {_before_after(*sources)}"


def _before_after(before: str, after: str) -> str:
    return after if before == after else f"{before} -> {after}"


def _known(value: Any) -> str:
    return _UNKNOWN if value is None else value_text(value)
