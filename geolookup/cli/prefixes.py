"""``geolookup prefixes``: the fewest prefixes whose answers meet conditions."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

import geolookup
from geolookup.cli import fail, options
from geolookup.cli.command import command
from geolookup.errors import line_text, near_match
from geolookup.kernel.lookups import state_of
from geolookup.prefixes.list_text import NAMES, Lists, Syntax, checked_names
from geolookup.prefixes.syntaxes import SYNTAXES
from geolookup.store.paths import dataset_path

if TYPE_CHECKING:
    from geolookup.dataset.files import Dataset
    from geolookup.prefixes.select import Selection
    from geolookup.progress import Progress

_STANDARD = "-"
_DEFAULTS = ", ".join(f"{name}={of.default} ({of.help})" for name, of in NAMES.items())
_NOTHING = "no prefix meets the conditions; --allow-empty writes the empty list"


@command("prefixes")
@click.argument("where", metavar="[CONDITION]...", nargs=-1)
@options.not_
@click.option("--within", metavar="NETWORK", help="Only addresses in this network.")
@options.family
@click.option(
    "--no-aggregate",
    "aggregate",
    is_flag=True,
    flag_value=False,
    default=True,
    help="Do not join adjacent ranges of the dataset that meet the conditions.",
)
@options.by(
    "Do not join ranges whose values of these fields differ; write the values. Only for csv and"
    " json."
)
@click.option(
    "--format",
    "form",
    type=click.Choice(tuple(SYNTAXES)),
    default="cidr",
    show_default=True,
    help="Syntax to write.",
)
@click.option(
    "--set",
    "names",
    metavar="NAME=VALUE",
    multiple=True,
    help=f"Set a name in the output; repeatable. [default: {_DEFAULTS}]",
)
@click.option(
    "--since",
    metavar="OLD",
    type=options.PATH,
    help="Write only the changes since OLD: a list in the same syntax, a dataset or "
    "a store. Standard error has the counts.",
)
@options.output(
    "File to write, completely or not at all; - is standard output. [default: -]",
    required=False,
    path_type=options.PATH,
)
@options.force("an existing file")
@click.option(
    "--allow-empty",
    is_flag=True,
    help="Write a list without prefixes if nothing meets the conditions.",
)
@options.dataset
def prefixes(
    where: tuple[str, ...],
    not_: tuple[str, ...],
    form: str,
    names: tuple[str, ...],
    since: str | None,
    output: str | None,
    force: bool,
    allow_empty: bool,
    dataset: str | None,
    **limits: Any,
) -> None:
    """List the fewest prefixes whose answers meet all conditions.

    A condition is FIELD=VALUE,... for one of several values; the value null is unknown. A
    Boolean FIELD by itself must be true.
    > >= < <= compare numbers and ^= the beginning of a text; quote them for the shell.
    location~48.2,16.4,50km and location~SOUTH,WEST,NORTH,EAST test coordinates.

    Prefixes are in address order, IPv4 first. The list omits special-purpose space and
    networks about which nothing is known; a condition on an own column includes
    special-purpose space in which own columns are known. If nothing meets the conditions,
    the command writes nothing and exits with 1, unless --allow-empty is set.

    The guide Lists for firewalls shows how each program loads its list.

    Example: geolookup prefixes country=AT,DE --not asn=15169 --format nft
    """
    from geolookup.cli.conditions import note_absent_values, read_conditions
    from geolookup.files.byte_streams import open_output
    from geolookup.filesystem.atomic import check_file
    from geolookup.prefixes.lists import lists
    from geolookup.prefixes.select import Selection
    from geolookup.progress import beside

    syntax = SYNTAXES[form]
    if limits["by"] and syntax.entries != "row":
        fail(f"--by is for csv and json: {form} has no values")
    _check_since(since, syntax, output)
    if output not in (None, _STANDARD):
        check_file(Path(output), force=force)
    chosen = _chosen_names(syntax, names)

    def select(dataset: Dataset, call: str) -> Selection:
        """Select the ranges of a dataset; exits with status 2 for a column that it lacks."""
        conditions = read_conditions(dataset, where, call, not_)
        with options.usage_errors():
            return Selection(dataset, conditions, call, **limits)

    with (
        options.open_dataset(dataset) as engine,
        open_output(output or _STANDARD, None, force=force) as stream,
    ):
        data = state_of(engine).dataset
        selection = select(data, "prefixes")
        note_absent_values(data, selection.conditions)
        options.note_age(engine)
        if not allow_empty and not any(map(len, selection.all_spans())):
            click.echo(f"geolookup: {_NOTHING}", err=True)
            sys.exit(1)
        current, removed = lists(selection, syntax.entries), None
        if since is not None:
            current, removed = _changes(since, select, syntax, current)
        _write(syntax.text(current, chosen, removed), stream, beside(output or _STANDARD))


def _write(blocks: Iterable[bytes], stream: BinaryIO, progress: Progress) -> None:
    with progress.stage("writing prefixes"):
        done = 0
        for block in blocks:
            stream.write(block)
            done += len(block)
            progress.bytes(done, None)


def _check_since(since: str | None, syntax: Syntax, output: str | None) -> None:
    """Exit with status 2 if no changes since a list can be written, or if they would replace it."""
    if since is None:
        return
    if syntax.changes is None:
        fail(f"--since: {syntax.name} has no form for changes; write the whole list, or use cidr")
    if output not in (None, _STANDARD) and Path(output).resolve() == Path(since).resolve():
        fail("--output is OLD: the changes would replace it; name another file")


def _chosen_names(syntax: Syntax, texts: tuple[str, ...]) -> dict[str, str]:
    """Return the names for an output; exits with status 2 for one that the syntax does not have."""
    chosen = dict(text.partition("=")[::2] for text in texts)
    for name in chosen.keys() - syntax.names:
        if name not in NAMES:
            fail(f"--set: no name {line_text(name)!r} in outputs; {near_match(name, NAMES)}")
        formats = [other.name for other in SYNTAXES.values() if name in other.names]
        fail(f"--set {name} is for {', '.join(formats)}, not for {syntax.name}")
    try:
        return checked_names(**chosen)
    except ValueError as error:
        fail(f"--set: {error}")


def _changes(
    since: str, select: Callable[[Dataset, str], Selection], syntax: Syntax, current: Lists
) -> tuple[Lists, Lists]:
    """Return what was added and removed since a written list, or since another dataset."""
    from geolookup.prefixes.lists import changes, lists, read_list

    path = Path(dataset_path(since))
    if path.is_dir():
        with geolookup.open(path) as former:
            old = lists(select(state_of(former).dataset, f"--since {since}"), syntax.entries)
            changed = changes(old, current)
    else:
        changed = changes(read_list(path, syntax), current)
    added, removed = (sum(len(texts) for [texts] in side.values()) for side in changed)
    line = f"{added:,} added, {removed:,} removed since {line_text(since)}"
    click.echo(f"geolookup: {line}", err=True)
    return changed
