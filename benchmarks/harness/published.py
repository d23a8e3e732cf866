"""The outputs of the last measurements: files in ``published``, shown on the page of benchmarks.

``--publish NAME`` writes NAME.txt, and replaces the former tables on the page. The page can leave
out a table.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from benchmarks.harness.processes import ROOT

FOLDER = ROOT / "benchmarks" / "published"
PAGE = ROOT / "docs" / "reference" / "benchmarks.md"
#: The cells of each row, by the title of its table and its name.
Rows = Mapping[tuple[str, str], list[str]]


def publish(name: str, output: str) -> None:
    """Keep what a command printed; the page then shows each table where it showed the former."""
    file = FOLDER / f"{name}.txt"
    former = file.read_text(encoding="utf-8") if file.is_file() else ""
    FOLDER.mkdir(exist_ok=True)
    file.write_text(output, encoding="utf-8")
    page = PAGE.read_text(encoding="utf-8")
    for before, after in zip(
        former.rstrip().split("\n\n"), output.rstrip().split("\n\n"), strict=False
    ):
        page = page.replace(before, after) if before else page
    PAGE.write_text(page, encoding="utf-8")


def rows(name: str) -> Rows:
    """Return the rows of the tables that a command printed.

    A table begins with its header: the first line, or a line after an empty one. Columns are two
    spaces or more apart, and a cell has single ones at most. Tables of one title are one: the
    cells of the later rows follow.
    """
    cells_by_row: dict[tuple[str, str], list[str]] = {}
    for table in (FOLDER / f"{name}.txt").read_text(encoding="utf-8").split("\n\n"):
        (title, *_), *body = (re.split(r" {2,}", line) for line in table.splitlines())
        for row, *cells in body:
            cells_by_row.setdefault((title, row), []).extend(cells)
    return cells_by_row


def header(name: str, title: str) -> Sequence[str]:
    """Return the names of the columns of a table, without its title."""
    for line in (FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines():
        first, *columns = re.split(r" {2,}", line)
        if first == title:
            return columns
    raise KeyError(title)
