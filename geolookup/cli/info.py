"""``geolookup info``: describes a dataset: content, age, sources and credits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict

import click

import geolookup
from geolookup.cli import json_text, options
from geolookup.dataset.metadata import Metadata
from geolookup.errors import line_text

TYPE_CHECKING = False  # as mypy reads it; the module imports Arrow
if TYPE_CHECKING:
    from geolookup.dataset.coverage import Known

_EXPLAINS = {"sources": "the deciding sources", "full": "the deciding sources and their rows"}


@click.command(name="info", short_help="Describe a dataset.")
@click.argument("dataset", type=options.PATH, required=False)
@options.as_json()
def info(dataset: str | None, as_json: bool) -> None:
    """Describe DATASET, or the current generation of a store: age, known fields, sources, licences.

    Known is the share of the public IPv4 addresses that have a value, and of the
    IPv6 addresses of which anything is known. Also prints the kernel in use,
    compiled or python, and the version and source of the time zone rules. Without
    DATASET it describes $GEOLOOKUP_DATASET, else the user's store, else the bundled
    dataset.

    Example: geolookup info mydata
    """
    from geolookup.dataset.coverage import known_addresses

    with geolookup.open(dataset) as engine:
        metadata, kernel, path = engine.metadata, engine.kernel, engine.path
    known = known_addresses(path)
    if as_json:
        families = {family: asdict(each) for family, each in known.items()}
        zones = {"version": metadata.time_zones.version, "source": metadata.time_zones.source}
        of_today = {"age": asdict(metadata.age), "kernel": kernel, "time_zones": zones}
        described = {"path": str(path)} | asdict(metadata) | of_today | {"known": families}
        click.echo(json_text(described))
    else:
        lines = (f"path        {path}", *_lines(metadata, kernel, known))
        click.echo("\n".join(map(line_text, lines)))


def _lines(metadata: Metadata, kernel: str, known: Mapping[str, Known]) -> Iterator[str]:
    yield f"name        {metadata.name}"
    yield f"generation  {metadata.generation}"
    if metadata.base:
        yield f"base        {metadata.base}"
    yield f"size        {metadata.bytes:,} bytes"
    yield f"age         {metadata.age}"
    yield f"explains    {_EXPLAINS[metadata.explain]}"
    yield f"kernel      {kernel}"
    yield f"time zones  {metadata.time_zones}"
    yield "counts      " + ", ".join(f"{n:,} {name}" for name, n in metadata.counts.items())
    yield f"known       IPv4: of the {known['ipv4'].of:,} public addresses"
    yield "            IPv6: of the addresses of which anything is known; most are unassigned"
    yield f"{'':<33}{'IPv4':>8}{'IPv6':>9}"
    for path in known["ipv4"].with_value:
        shares = (known[family].share(path) for family in ("ipv4", "ipv6"))
        yield f"  {path:<31}" + " ".join(f"{each:8.2%}" for each in shares)
    yield "sources, in order of precedence"
    for source in metadata.sources:
        stated = source.date or "no date", source.licence or "no licence stated"
        yield f"  {source.name} ({source.format}), {', '.join(stated)}"
        yield from (f"    {text}" for text in (source.attribution, source.url) if text)
        yield from _covered(source.coverage, "    decides ")
    yield "reference tables"
    for credit in metadata.credits:
        yield f"  {credit['name']}, {credit['licence']}: {credit['attribution']}"


def _covered(coverage: Mapping[str, Mapping[str, int]], before: str) -> Iterator[str]:
    for layer, families in coverage.items():
        known = ", ".join(f"{count:,} {family}" for family, count in families.items())
        yield f"{before}{layer:<16} {known} addresses"
