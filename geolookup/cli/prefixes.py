"""``geolookup prefixes``: the fewest prefixes whose answers meet conditions."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

import geolookup
from geolookup.cli import exit_on_signals, fail, note_age, options, require_output
from geolookup.cli.command import command
from geolookup.errors import line_text
from geolookup.prefixes.list_text import Changes, Lists, Settings, Syntax
from geolookup.prefixes.syntaxes import SYNTAXES

if TYPE_CHECKING:
    from geolookup.engine import Engine
    from geolookup.prefixes.select import Question


def _names(command: options.F) -> options.F:
    """Add the options of names in an output."""
    for setting in reversed(fields(Settings)):
        help_text = f"{setting.metadata['help']} [default: {setting.default}]"
        metavar = setting.name.upper()
        command = click.option(f"--{setting.name}", metavar=metavar, help=help_text)(command)
    return command


@command("prefixes", "List the prefixes whose answers meet conditions.")
@options.conditions
@click.option("--within", metavar="PREFIX", help="Only addresses of this prefix.")
@click.option(
    "--family", type=click.Choice(["4", "6"]), help="Only IPv4 or IPv6. [default: both, IPv4 first]"
)
@click.option(
    "--no-aggregate",
    "aggregate",
    is_flag=True,
    flag_value=False,
    default=True,
    help="Do not join adjacent ranges of the dataset that meet the conditions.",
)
@click.option(
    "--by",
    "by",
    metavar="PATH,...",
    multiple=True,
    callback=options.split_values,
    shell_complete=options.complete_paths,
    help="Do not join ranges whose values of these fields differ; write the values. Only for csv "
    "and json.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(tuple(SYNTAXES)),
    default="cidr",
    show_default=True,
    help="Syntax to write.",
)
@_names
@click.option(
    "--since",
    metavar="OLD",
    type=options.PATH,
    help="Write only the changes since OLD: a list in the same syntax, a dataset or "
    "a store. Standard error has the counts.",
)
@options.output(
    "File to write, completely or not at all. [default: standard output]", required=False
)
@options.force("an existing file")
@click.option(
    "--fail-if-empty",
    is_flag=True,
    help="Exit with 1, and write no file, if no prefix meets the conditions.",
)
@options.dataset()
@options.age_notice
def prefixes(
    where: tuple[str, ...],
    not_: tuple[str, ...],
    within: str | None,
    family: str | None,
    aggregate: bool,
    by: tuple[str, ...],
    form: str,
    since: str | None,
    output: Path | None,
    force: bool,
    fail_if_empty: bool,
    dataset: str | None,
    **names: str | None,
) -> None:
    """List the fewest prefixes whose answers meet all conditions.

    A condition is PATH=VALUE,... for one of several values; the value null is unknown.
    > >= < <= compare numbers, ^= compares the beginning of a text, and
    location~48.2,16.4,50km or location~SOUTH,WEST,NORTH,EAST tests coordinates. Short
    names of fields, such as country and asn, are accepted. Prefixes are in address
    order, IPv4 first. Special-purpose space and networks about which nothing is known
    are left out.

    Example: geolookup prefixes --where country=AT,DE --not asn=15169 --format nft
    """
    from geolookup.prefixes.select import absent_values, question

    exit_on_signals()
    syntax = SYNTAXES[form]
    if by and syntax.entries != "row":
        fail(f"--by is for csv and json: {form} has no place for values")
    _check_since(since, syntax, output)
    settings = _settings(syntax, names)
    only = None if family is None else int(family)
    try:
        query = question(where, not_=not_, within=within, family=only, aggregate=aggregate, by=by)
    except ValueError as error:
        fail(str(error))
    with geolookup.open(dataset) as engine, _output_stream(output, force=force) as stream:
        for line in absent_values(engine.snapshot().dataset, query.conditions):
            click.echo(f"geolookup: {line}", err=True)
        tally = _Tally()
        for block in _content(engine, query, syntax, settings, since, tally):
            stream.write(block)
        note_age(engine)
        if fail_if_empty and not tally.count:
            click.echo("geolookup: no prefix meets the conditions", err=True)
            sys.exit(1)


def _check_since(since: str | None, syntax: Syntax, output: Path | None) -> None:
    """Exit with status 2 if no changes since a list can be written, or if they would replace it."""
    if since is None:
        return
    if syntax.changes is None:
        fail(f"--since: {syntax.name} has no form for changes; write the whole list, or use cidr")
    if output and output.resolve() == Path(since).resolve():
        fail("--output is OLD, which its changes would replace; name another file")


class _Tally:
    """Counts the entries of lists while they are written."""

    def __init__(self) -> None:
        self.count = 0

    def of(self, lists: Lists) -> Lists:
        """Return the lists, counted as they are read."""
        return {family: self._counting(batches) for family, batches in lists.items()}

    def _counting(self, batches: Iterable[Any]) -> Iterator[Any]:
        for entries in batches:
            self.count += len(entries)
            yield entries


def _settings(syntax: Syntax, names: Mapping[str, str | None]) -> Settings:
    """Return the names for an output; exits with status 2 for one that the syntax does not take."""
    chosen = {name: text for name, text in names.items() if text is not None}
    for name in chosen.keys() - syntax.takes:
        having = [other.name for other in SYNTAXES.values() if name in other.takes]
        fail(f"--{name} is for {', '.join(having)}, not for {syntax.name}")
    try:
        return Settings(**chosen)
    except ValueError as error:
        fail(f"--{error}")


def _content(
    engine: Engine,
    query: Question,
    syntax: Syntax,
    settings: Settings,
    since: str | None,
    tally: _Tally,
) -> Iterator[bytes]:
    """Yield the bytes of a list, or of what changed in it."""
    from geolookup.prefixes.lists import lists
    from geolookup.prefixes.select import Selection

    current = tally.of(lists(Selection(engine.snapshot().dataset, query), syntax.entries))
    if since is None or syntax.changes is None:
        yield from syntax.list_text(current, settings)
    else:
        yield from syntax.changes_text(_changes(since, query, syntax, current), settings)


def _changes(since: str, query: Question, syntax: Syntax, current: Lists) -> Changes:
    """Return what changed since a list that was written, or since another dataset."""
    from geolookup.prefixes.lists import changes, count, lists, read_list
    from geolookup.prefixes.select import Selection

    if Path(since).is_dir():
        with geolookup.open(since) as former:
            changed = changes(
                lists(Selection(former.snapshot().dataset, query), syntax.entries), current
            )
    else:
        changed = changes(read_list(Path(since), syntax), current)
    added, removed = map(count, changed)
    line = f"{added:,} added, {removed:,} removed since {line_text(since)}"
    click.echo(f"geolookup: {line}", err=True)
    return changed


@contextmanager
def _output_stream(output: Path | None, *, force: bool) -> Iterator[BinaryIO]:
    """Yield a stream; a file gets its name only if the block succeeds."""
    from geolookup.filesystem.atomic import check_file, staged_file

    if output is None:
        require_output("name a file with --output")
        yield sys.stdout.buffer
        return
    check_file(output, force=force)
    with staged_file(output, force=force) as fresh, fresh.open("wb") as stream:
        yield stream
