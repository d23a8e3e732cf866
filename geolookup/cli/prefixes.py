"""``geolookup prefixes``: the fewest prefixes whose answers meet conditions."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import geolookup
from geolookup.cli import fail, options, say
from geolookup.cli.command import command
from geolookup.cli.options import option
from geolookup.errors import line_text, near_match
from geolookup.kernel.lookups import state_of
from geolookup.prefixes.list_text import NAMES, Lists, Syntax, checked_names
from geolookup.prefixes.syntaxes import SYNTAXES
from geolookup.store.paths import dataset_path

if TYPE_CHECKING:
    from geolookup.dataset.files import Dataset
    from geolookup.prefixes.select import Selection

_STANDARD = "-"
_DEFAULTS = ", ".join(f"{name}={of.default} ({of.help})" for name, of in NAMES.items())


@command("prefixes")
@click.argument("where", metavar="[CONDITION]...", nargs=-1)
@options.not_
@option("--within NETWORK", "Only addresses in this network.", cls=options.Once)
@options.family
@option(
    "--no-aggregate",
    "Do not join adjacent ranges of the dataset that meet the conditions.",
    name="aggregate",
    flag_value=False,
    default=True,
)
@options.names_of_fields(
    "--by",
    "Do not join ranges whose values of these fields differ; write the values. Only for csv and"
    " json.",
)
@option("--format", "Syntax to write.", click.Choice(tuple(SYNTAXES)), name="form", default="cidr")
@option(
    "--set NAME=VALUE...",
    f"Set a name in the output; repeatable. [default: {_DEFAULTS}]",
    name="names",
)
@option(
    "--since OLD",
    "Write only the changes since OLD: a list in the same syntax, a dataset or "
    "a store. Standard error has the counts.",
    options.PATH,
)
@option(
    "-o, --output FILE",
    "File to write, completely or not at all; - is standard output.",
    options.PATH,
    default=_STANDARD,
)
@option("--force", "Replace an existing file.")
@option("--allow-empty", "Write a list without prefixes if nothing meets the conditions.")
@options.dataset
def prefixes(
    dataset: str | None, form: str, since: str | None, output: str, force: bool, **values: Any
) -> None:
    """List the fewest prefixes whose answers meet all conditions.

    A condition is FIELD=VALUE,... for one of several values; the value null is unknown. A
    Boolean FIELD by itself must be true. > >= < <= compare numbers and ^= the beginning of a
    text; quote them for the shell. location~48.2,16.4,50km and location~SOUTH,WEST,NORTH,EAST
    test coordinates. The list omits special-purpose space, unless a condition is on an own
    column that is known there, and networks about which nothing is known. If nothing meets
    the conditions, the command writes nothing and exits with 1, unless --allow-empty is set.
    The guide Lists of networks shows how each program loads its list.

    Example: geolookup prefixes country=AT,DE --not asn=15169 --format nft
    """
    from geolookup.files.byte_streams import open_output
    from geolookup.prefixes.conditions import conditions_of
    from geolookup.prefixes.lists import lists
    from geolookup.prefixes.select import Selection
    from geolookup.progress import beside

    syntax = SYNTAXES[form]
    if values["by"] and syntax.entries != "row":
        fail(f"--by is for csv and json: {form} has no values")
    _check_since(since, syntax, output)
    chosen, allow_empty = _chosen_names(syntax, values.pop("names")), values.pop("allow_empty")
    where = [*values.pop("where"), {"not": values.pop("not_")}]

    def select(dataset: Dataset, call: str) -> Selection:
        """Select the ranges of a dataset; raises ValueError for a column that it lacks."""
        return Selection(dataset, conditions_of(where, call, dataset.schema), call, **values)

    with options.open_dataset(dataset) as engine, open_output(output, None, force=force) as stream:
        data = state_of(engine).dataset
        selection = select(data, "prefixes")
        options.note_absent_values(data, selection.conditions)
        if not allow_empty and not any(map(len, selection.all_spans())):
            say("geolookup: no prefix meets the conditions; --allow-empty writes the empty list")
            sys.exit(1)
        current, removed = lists(selection, syntax.entries), None
        if since is not None:
            current, removed = _changes(since, select, syntax, current)
        with beside(output).stage("writing prefixes"):
            stream.writelines(syntax.text(current, chosen, removed))


def _check_since(since: str | None, syntax: Syntax, output: str) -> None:
    """Exit with status 2 if no changes since a list can be written, or if they would replace it."""
    if since is None:
        return
    if syntax.changes is None:
        fail(f"--since: {syntax.name} has no form for changes; write the whole list, or use cidr")
    if output != _STANDARD and Path(output).resolve() == Path(since).resolve():
        fail("--output is OLD: the changes would replace it; name another file")


def _chosen_names(syntax: Syntax, texts: tuple[str, ...]) -> dict[str, str]:
    """Return the names for an output; exits with status 2 for one that the syntax does not have."""
    chosen = dict(text.partition("=")[::2] for text in texts)
    for name in chosen.keys() - syntax.names:
        hint = near_match(name, syntax.names)
        fail(f"--set: {syntax.name} has no name {line_text(name)!r}; {hint}")
    return checked_names(**chosen)


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
    say(f"geolookup: {added:,} added, {removed:,} removed since {line_text(since)}")
    return changed
