"""The command line: one registry of names, each a click command of its own module."""

from __future__ import annotations

import click

from benchmarks.build import command as build
from benchmarks.cluster import command as cluster
from benchmarks.data import generate, geolite
from benchmarks.delta import command as delta
from benchmarks.export import command as export
from benchmarks.first import command as first
from benchmarks.fleet import command as fleet
from benchmarks.floor import command as floor
from benchmarks.gate import command as gate
from benchmarks.http import command as http
from benchmarks.inline import command as inline
from benchmarks.kept import command as kept
from benchmarks.many import command as many
from benchmarks.opening import command as opening
from benchmarks.own import command as own
from benchmarks.past import command as past
from benchmarks.peers import command as peers
from benchmarks.prefixes import command as prefixes
from benchmarks.report import command as report
from benchmarks.single import command as single
from benchmarks.tables import command as tables
from benchmarks.target import command as target
from benchmarks.verify import command as verify
from geolookup import kernel

#: A benchmark is added by writing a module with a ``command`` and naming it here.
COMMANDS: dict[str, click.Command] = {
    "build": build.command,
    "cluster": cluster.command,
    "delta": delta.command,
    "export": export.command,
    "first": first.command,
    "fleet": fleet.command,
    "floor": floor.command,
    "gate": gate.command,
    "generate": generate.command,
    "geolite": geolite.command,
    "http": http.command,
    "inline": inline.command,
    "kept": kept.command,
    "many": many.command,
    "opening": opening.command,
    "own": own.command,
    "past": past.command,
    "peers": peers.command,
    "prefixes": prefixes.command,
    "report": report.command,
    "single": single.command,
    "tables": tables.command,
    "target": target.command,
    "verify": verify.command,
}


@click.group(name="benchmarks", commands=COMMANDS)
def main() -> None:
    """Measure geolookup.

    Nothing is measured if the compiled kernel is missing or older than its sources, unless
    GEOLOOKUP_KERNEL=python asks for the Python kernel.
    """
    if kernel.NOTICE:
        remedy = "or set GEOLOOKUP_KERNEL=python to measure the Python kernel"
        raise click.ClickException(f"{kernel.NOTICE}; {remedy}")


if __name__ == "__main__":
    main(prog_name="python -m benchmarks")
