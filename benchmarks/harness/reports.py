"""What a benchmark does with its result: prints its tables, writes JSON, publishes the output.

Published output is a file in ``benchmarks/published``. Pages take their figures from these files:
see ``benchmarks.figures``.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from benchmarks.harness.processes import ROOT
from benchmarks.harness.tables import Table

PUBLISHED = ROOT / "benchmarks" / "published"
#: What a benchmark prints: tables, and remarks on the table before.
Part = Table | str
#: The cells of a row by the names of their columns.
Row = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Outputs:
    """Where a result is written, if anywhere."""

    json: Path | None
    published: str | None

    def tell(self, parts: Iterable[Part], result: Mapping[str, Any]) -> None:
        """Print the parts and the machine; write the requested files."""
        output = f"{_text(parts)}\n{_machine_line(result)}\n"
        print(output, end="")
        if self.published is not None:
            PUBLISHED.mkdir(exist_ok=True)
            (PUBLISHED / f"{self.published}.txt").write_text(output, encoding="utf-8")
        if self.json is not None:
            self.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def outputs(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command ``--json`` and ``--publish``, as its parameter ``outputs``."""

    @click.option(
        "--json",
        "json_file",
        type=click.Path(dir_okay=False, path_type=Path),
        help="Write the result here.",
    )
    @click.option(
        "--publish",
        metavar="NAME",
        help="Keep the output as benchmarks/published/NAME.txt, for the pages.",
    )
    @functools.wraps(command)
    def with_outputs(
        *args: Any, json_file: Path | None, publish: str | None, **options: Any
    ) -> None:
        command(*args, **options, outputs=Outputs(json_file, publish))

    return with_outputs


def _text(parts: Iterable[Part]) -> str:
    """Return the parts as text, with an empty line before every table but the first."""
    lines: list[str] = []
    for part in parts:
        if lines and isinstance(part, Table):
            lines.append("")
        lines.append(str(part))
    return "\n".join(lines)


def _machine_line(result: Mapping[str, Any]) -> str:
    """Return what a result depends on as one line."""
    facts = result["machine"]
    return (
        f"{facts['implementation']} {facts['python']}, {facts['system']} {facts['machine']},"
        f" {facts['cores']} cores; load before: {facts['load']:.1f}"
    )


def published_tables(name: str) -> dict[str, tuple[str, dict[str, Row]]]:
    """Return the tables of a published output by title: the text, and the rows by name.

    A table begins with its header: the first line, or a line after an empty one. Columns are two
    spaces or more apart, and a cell has only single ones. Remarks follow the rows.
    """
    path = PUBLISHED / f"{name}.txt"
    tables: dict[str, tuple[str, dict[str, Row]]] = {}
    for block in path.read_text(encoding="utf-8").rstrip().split("\n\n") if path.exists() else []:
        head, *body = block.splitlines()
        title, *columns = re.split(r" {2,}", head)
        lines, rows = [head], dict[str, Row]()
        for line in body:
            row, *cells = re.split(r" {2,}", line)
            if len(cells) < _least(columns):
                break  # a remark
            lines.append(line)
            rows[row] = dict(zip(columns, _padded(cells, len(columns)), strict=True))
        tables[title] = "\n".join(lines), rows
    return tables


def _least(columns: Sequence[str]) -> int:
    return len(columns) - ("wanted" in columns)


def _padded(cells: Sequence[str], count: int) -> list[str]:
    """Return the cells of a row; a ratio without a goal has no text in that column."""
    return [*cells] if len(cells) == count else [cells[0], "", *cells[1:]]
