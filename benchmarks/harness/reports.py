"""What a benchmark does with its result: prints and draws its tables, writes and publishes it."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from benchmarks.harness.plots import draw
from benchmarks.harness.processes import ROOT
from benchmarks.harness.published import publish
from benchmarks.harness.tables import Table

#: Where results are written that a command keeps.
RESULTS = ROOT / "benchmarks" / "results"
#: What a benchmark prints: tables, and remarks on the table before.
Part = Table | str


@dataclass(frozen=True, slots=True)
class Outputs:
    """Where a result is written and its tables are drawn, if anywhere."""

    json: Path | None
    plot: Path | None
    published: str | None = None

    def tell(self, parts: Iterable[Part], result: Mapping[str, Any]) -> None:
        """Print the parts and the machine; write and draw the requested files."""
        items = list(parts)
        output = f"{as_text(items)}\n{machine_line(result)}\n"
        print(output, end="")
        if self.published is not None:
            publish(self.published, output)
        self.keep(items, result)

    def keep(self, parts: Iterable[Part], result: Mapping[str, Any]) -> None:
        """Write the result as JSON and draw the tables, where that is asked for."""
        if self.json is not None:
            _write(result, self.json)
        if self.plot is not None:
            draw([part for part in parts if isinstance(part, Table)], self.plot)


def outputs(target: str = "") -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command ``--json``, ``--plot`` and ``--publish``, as its parameter ``outputs``.

    ``target`` names the file of a result that is written in any case; it may name parameters.
    """
    default = f"benchmarks/results/{target.format(scale='SCALE')}.json" if target else None
    json_help = f"Write the result here.{f' [default: {default}]' if default else ''}"
    file = click.Path(dir_okay=False, path_type=Path)
    folder = click.Path(file_okay=False, path_type=Path)

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @click.option("--json", "json_file", type=file, help=json_help)
        @click.option("--plot", type=folder, help="Draw each table, as SVG and PNG in this folder.")
        @click.option(
            "--publish",
            "published",
            metavar="NAME",
            help="Show the output on the page of benchmarks, as benchmarks/published/NAME.txt.",
        )
        @functools.wraps(command)
        def with_outputs(
            *args: Any,
            json_file: Path | None,
            plot: Path | None,
            published: str | None,
            **options: Any,
        ) -> None:
            if plot is not None and not find_spec("vl_convert"):
                raise click.ClickException("--plot needs 'pip install .[report]'")
            if target and json_file is None:
                json_file = RESULTS / f"{target.format(**options)}.json"
            command(*args, **options, outputs=Outputs(json_file, plot, published))

        return with_outputs

    return decorate


def as_text(parts: Iterable[Part]) -> str:
    """Return the parts as text, with an empty line before every table but the first."""
    lines: list[str] = []
    for part in parts:
        if lines and isinstance(part, Table):
            lines.append("")
        lines.append(str(part))
    return "\n".join(lines)


def machine_line(result: Mapping[str, Any]) -> str:
    """Return what a result depends on as one line."""
    facts = result["machine"]
    pinned = "pinned" if facts["pinned"] else "not pinned"
    kernel = f", {result['kernel']} kernel" if "kernel" in result else ""
    load = f"; load before: {result['load']:.1f}" if "load" in result else ""
    return (
        f"{facts['implementation']} {facts['python']}, {facts['system']} {facts['machine']},"
        f" {facts['cores']} cores, {pinned}{kernel}{load}"
    )


def _write(result: Mapping[str, Any], target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
