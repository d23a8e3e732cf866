"""``geolookup info``, ``fields`` and ``recipes``: descriptions of data and of recipes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from geolookup.cli import json_text, options, text_of
from geolookup.cli.command import command, group
from geolookup.cli.terminal_text import print_table
from geolookup.dataset.metadata import Metadata
from geolookup.errors import counts_text, short_id

if TYPE_CHECKING:
    from geolookup.dataset.coverage import KnownAddresses
    from geolookup.engine import Engine

#: The columns of ``geolookup fields``.
_COLUMNS = ("path", "short name", "type", "unit", "example", "meaning")


@command("info")
@options.past_dataset_object
@options.overlay
@options.as_json
def info(dataset: str | None, as_json: bool) -> None:
    """Describe DATASET, or the current generation of a store: size, age, known fields, sources.

    DATASET is by default $GEOLOOKUP_DATASET, else the user's store, else bundled.
    Known is the share of addresses with a value: of the public IPv4 addresses, and
    of the IPv6 addresses with any value. Private are the own columns that are known in
    special-purpose space too.

    Example: geolookup info mydata
    """
    import geolookup
    from geolookup.dataset.coverage import known_addresses
    from geolookup.dataset.manifest import read_manifest
    from geolookup.dataset.sizes import file_sizes

    overlay, instant = options.kept("overlay"), options.instant_of()
    # Without the notice about old data: the age is one of the lines.
    with geolookup.open(dataset, overlay=overlay, as_of=instant) as engine:
        known, files = known_addresses(engine.path), file_sizes(read_manifest(engine.path))
        metadata, zones = engine.metadata, engine.metadata.time_zones
        document = {
            "path": engine.path,
            **asdict(metadata),
            "age": metadata.age,
            "kernel": engine.kernel,
            "time_zones": {"version": zones.version, "source": zones.source},
            "known": known,
            "files": files,
        }
        click.echo(json_text(document) if as_json else text_of(_lines(engine, known, files)))


def _lines(
    engine: Engine, known: Mapping[str, KnownAddresses], files: Mapping[str, int]
) -> Iterator[str]:
    from geolookup.dataset.sizes import size_lines

    metadata = engine.metadata
    private = (f"own.{column['name']}" for column in metadata.columns if column.get("private"))
    yield f"path        {engine.path}"
    yield f"name        {metadata.name}"
    yield f"generation  {short_id(metadata.generation)}"
    yield from size_lines(files)
    yield f"age         {metadata.age}"
    yield f"kernel      {engine.kernel}"
    yield f"time zones  {metadata.time_zones}"
    yield f"counts      {counts_text(metadata.counts)}"
    yield f"private     {', '.join(private) or 'no own column'}"
    yield f"known       IPv4: of the {known['ipv4'].of:,} public addresses"
    yield "            IPv6: of the addresses with any value; most others are unassigned"
    yield f"{'':<33}{'IPv4':>8}{'IPv6':>9}"
    for name in known["ipv4"].with_value:
        yield f"  {name:<31}{known['ipv4'].share(name):8.2%} {known['ipv6'].share(name):8.2%}"
    yield from _source_lines(metadata)


def _source_lines(metadata: Metadata) -> Iterator[str]:
    from geolookup.dataset.coverage import coverage_lines

    if metadata.columns:
        yield "own columns"
        yield from map(_column_line, metadata.columns)
    yield "sources, in order of precedence"
    for source in metadata.sources:
        terms = source.date or "no date", source.licence or "no licence stated"
        yield f"  {source.origin} ({source.format}), {', '.join(terms)}"
        yield from (f"    {text}" for text in (source.attribution, source.url) if text)
        yield from (f"    decides {line}" for line in coverage_lines(source.coverage))
    yield "reference tables"
    for credit in metadata.credits:
        yield f"  {credit['name']}, {credit['licence']}: {credit['attribution']}"


def _column_line(column: Mapping[str, Any]) -> str:
    group = f", group {column['group']}" if "group" in column else ""
    private = ", private" if column.get("private") else ""
    meaning = f": {column['description']}" if "description" in column else ""
    return f"  own.{column['name']:<27} {column['type']}{group}{private}{meaning}"


@command("fields")
@options.as_json
def fields(as_json: bool) -> None:
    """List every field of an answer: its path, short name, type, unit, an example and meaning.

    Every option and call accepts both names. A group, such as location, means all its members.
    `geolookup info` lists the own columns of a dataset.

    Example: geolookup fields
    """
    from geolookup.contract import display

    infos = display.fields()
    if as_json:
        click.echo(json_text([info._asdict() for info in infos]))
    else:
        rows = [(*info[:4], _example(info.example), info.meaning) for info in infos]
        print_table([[cell.replace("`", "") for cell in row] for row in rows], _COLUMNS)


def _example(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)


@group("recipes", invoke_without_command=True)
@click.pass_context
def recipes(context: click.Context) -> None:
    """List the packaged recipes with their descriptions.

    `geolookup build`, `check` and `update` accept their names.

    Example: geolookup recipes copy maxmind-geolite2
    """
    from geolookup_builder.recipe import loading

    if context.invoked_subcommand is None:
        print_table([(name, loading.summary(name)) for name in loading.names()])


@recipes.command(name="show", short_help="Print a packaged recipe.")
@click.argument("name")
def show(name: str) -> None:
    """Print the packaged recipe NAME.

    Example: geolookup recipes show world
    """
    from geolookup_builder.recipe import loading

    click.echo(loading.text(name), nl=False)


@recipes.command(name="copy", short_help="Copy a packaged recipe, to change it.")
@click.argument("name")
@click.argument("folder", type=options.AS_PATH, default=".")
def copy(name: str, folder: Path) -> None:
    """Copy the packaged recipe NAME, and the files that it needs, into FOLDER.

    FOLDER is by default the current one. No file is replaced. Prints the name of the
    copy, for `geolookup build` and `update`.

    Example: geolookup recipes copy world
    """
    from geolookup_builder.recipe import loading

    click.echo(loading.copy(name, folder))
