"""``geolookup explain``: prints the sources that decided answers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import click

from geolookup.cli import options, say, text_of
from geolookup.cli.address_input import blocks
from geolookup.cli.command import command
from geolookup.cli.terminal_text import value_text
from geolookup.contract.address import effective, parse
from geolookup.contract.envelope import failure, to_json
from geolookup.contract.fields import OWN_PREFIX
from geolookup.contract.special import special_block
from geolookup.errors import AddressError, PrivateAddressError

#: The indent of lines below a layer.
_UNDER = " " * 21
#: The fields of a place that are printed; --json has all.
_PLACE_MEMBERS = ("city_name", "region_name", "country_code", "time_zone")


@command("explain")
@click.argument("addresses", metavar="IP...", nargs=-1, required=True)
@options.dataset
@options.as_json("Print one line of JSON for each IP.")
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
        options.note_age(engine)
        print_each(addresses, engine.explain, None if as_json else _lines)


def print_each(
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
