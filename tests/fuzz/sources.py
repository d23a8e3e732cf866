"""Each source reader: rows are read, nulled or rejected, or the build ends with one line.

An input is ``[[source]]`` tables, then files, each after ``CUT`` and its name.
Every rejected row has to be found again, with its line.
"""

from __future__ import annotations

import csv
import json
import random
import re
from collections.abc import Iterator
from functools import cache, partial
from io import StringIO
from pathlib import Path
from typing import Literal
from unittest import mock

from geolookup.errors import BuildError
from tests.builder.sources.formats import (
    test_generic_typed,
    test_ip2proxy,
    test_prefix_lists,
)
from tests.builder.sources.formats.mmdb_writing import mmdb
from tests.builder.sources.readings import one
from tests.builder.sources.test_hostile import KINDS
from tests.fuzz.files import check_error
from tests.fuzz.target import Change, Target, accepted, corpus, emptied, scratch
from tests.internals.builder import (
    FORMATS,
    Columns,
    Layout,
    MemoryBudget,
    Options,
    OverlaidSources,
    Recipe,
    RecordNumbers,
    Reference,
    auto,
    document,
    find_rejects,
    load_reference,
    mask_lines,
    unlimited_cells,
)
from tests.internals.filesystem import limits
from tests.internals.progress import Progress

CUT = b"\n--8<-- "
_HEAD = b'[dataset]\nname = "f"\n'
_NAME = re.compile(rb"[A-Za-z0-9_. -]{0,80}[A-Za-z0-9_-]")
_FORMAT = re.compile(rb'format = "[^"\n]*"')
_MOST_FILES = 8
#: For inputs of some kilobytes, which would else take the whole time limit.
_MOST_UNPACKED = 1 << 20


def _run(data: bytes) -> None:
    head, *parts = data.split(CUT)
    files = dict(part.partition(b"\n")[::2] for part in parts[:_MOST_FILES])
    if not files or not all(map(_NAME.fullmatch, files)):
        return
    folder = emptied(scratch())
    for name, content in files.items():
        (folder / name.decode()).write_bytes(content)
    (folder / "recipe.toml").write_bytes(_HEAD + head)
    with mock.patch.object(limits, "ALLOWED_BYTES", _MOST_UNPACKED):
        accepted(lambda: _read(folder), BuildError, folder, check_error)


def _read(folder: Path) -> None:
    plan = document.read_recipe(folder / "recipe.toml", auto.options())
    if not _stays_inside(plan):
        return
    plan = auto.detect_formats(plan)
    options = Options(max_rejected=1 << 40)
    columns = Columns(MemoryBudget.of(None), folder / "dataset")
    build = OverlaidSources(plan, _reference(), (), options, Progress(), columns, {})
    for number, source in enumerate(plan.sources, 1):
        build.add(number, source)
    for rejected, report in zip(build.rejects, build.report.sources, strict=True):
        result = [row for row in rejected.find(str) if not row.reason.startswith(("nulled", "far"))]
        assert len(result) == report.rejected.total() <= report.read
        assert all(item.reason and item.line >= 0 for item in result)
        assert all(line.isprintable() for line in report.lines())
        members = [numbers for numbers, _ in rejected.members.values()]
        if all(map(_is_delimited, members)):
            assert report.read == sum(map(_records, members))


def _is_delimited(numbers: RecordNumbers) -> bool:
    """Return whether each row is a record of delimited text."""
    find = numbers.find_rejects
    return isinstance(find, partial) and find.func is find_rejects


def _records(numbers: RecordNumbers) -> int:
    """Count the records of a member by the standard CSV reader; Arrow reads them."""
    layout: Layout = numbers.find_rejects.keywords["layout"]  # type: ignore[attr-defined]  # a partial
    with numbers.member.open() as stream:
        text = mask_lines(stream.read(), layout).decode("utf-8-sig", "replace")
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if layout.quoted else csv.QUOTE_NONE
    with unlimited_cells():
        rows = csv.reader(StringIO(text, newline=""), delimiter=layout.delimiter, quoting=quoting)
        return max(sum(map(bool, rows)) - layout.header, 0)


def _stays_inside(plan: Recipe) -> bool:
    """Return whether a mutated recipe names only its own files: it might name any."""
    paths = [source.path for source in plan.sources]
    plain = not plan.countries
    return plain and len(paths) <= _MOST_FILES and not any(re.search(r"/|\.\.", p) for p in paths)


@cache
def _reference() -> Reference:
    return load_reference()


def built_in() -> Iterator[bytes]:
    """Yield one input for each layout."""
    for kind in KINDS.values():
        yield _input(kind.recipe, kind.file, kind.content().encode())
    record = {"country": {"iso_code": "CH"}, "traits": {"isp": "x"}}
    files: tuple[tuple[str, str, str | bytes], ...] = (
        ("mmdb", "a.mmdb", mmdb({"8.8.8.0/24": record})),
        *(("cloud", "a.json", json.dumps(value)) for value in test_prefix_lists.DOCUMENTS.values()),
        ("ip2proxy", "IP2PROXY-LITE-PX8.CSV", test_ip2proxy.ipv4(8)),
        ("jsonl", "a.jsonl", test_generic_typed.as_json(test_generic_typed.ROWS)),
        ("parquet", "a.parquet", test_generic_typed.as_parquet(test_generic_typed.ROWS)),
        ("tor", "exit-addresses", test_prefix_lists.EXITS),
    )
    for name, file, content in files:
        data = content if isinstance(content, bytes) else content.encode()
        yield _input(one(name, file), file, data)


def _input(text: str, name: str, content: bytes) -> bytes:
    head = b"[[source]]" + text.partition("[[source]]")[2].encode()
    return head + CUT + name.encode() + b"\n" + content


def _mutate(data: bytes, change: Change, rng: random.Random) -> bytes:
    """Change one file, seldom all: a broken recipe is another target."""
    parts = data.split(CUT)
    if len(parts) < 2 or rng.randrange(16) == 0:
        return change(data)
    at = rng.randrange(1, len(parts))
    name, _, content = parts[at].partition(b"\n")
    parts[at] = name + b"\n" + change(content)
    return CUT.join(parts)


def _seeds(name: str) -> Iterator[bytes]:
    """Yield the inputs of a format; for ``auto`` those of all formats, without their name."""
    if name == auto.NAME:
        actual = [entry for stated in FORMATS for entry in corpus(f"source-{stated}")]
        for seed in (*built_in(), *actual):
            yield _FORMAT.sub(b'format = "auto"', seed)
    else:
        line = b'format = "%s"' % name.encode()
        yield from (seed for seed in built_in() if line in seed.partition(CUT)[0])


TARGETS = {
    f"source-{name}": Target(_run, partial(_seeds, name), _mutate) for name in (*FORMATS, auto.NAME)
}
