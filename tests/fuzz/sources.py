"""Each source reader: rows are read, nulled or rejected, or the build ends with one line.

An input is ``[[source]]`` tables and their files (see ``recorded``), so that it stays itself.
Every rejected row has to be found again, with its line.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from unittest import mock

from geolookup_builder import recipe
from geolookup_builder.compile import Options, _Build, _known
from geolookup_builder.recipe import Recipe
from geolookup_builder.sources import FORMATS, auto
from geolookup_builder.sources.reading import archives
from geolookup_builder.sources.reading.damage import silent_invalid_rows
from geolookup_builder.values import Known

from geolookup.errors import BuildError
from geolookup.progress import Progress
from tests.builder.sources.formats.mmdb_writing import mmdb
from tests.builder.sources.recipes import one
from tests.builder.sources.test_hostile import KINDS
from tests.fuzz.recipe import check_error
from tests.fuzz.recorded import CUT, joined
from tests.fuzz.target import Change, Target, emptied, own_folder

#: Wanted: ``.fuzz/seeds``, as ``python -m tests.fuzz`` records them.
Recorded = Callable[[], Iterator[bytes]]
_HEAD = b'[dataset]\nname = "f"\nexplain = "full"\n'
_NAME = re.compile(rb"[A-Za-z0-9_. -]{0,80}[A-Za-z0-9_-]")
_MOST_FILES = 8
_folder = cache(own_folder)
#: For inputs of some kilobytes, which would else take the whole time limit.
_MOST_UNPACKED = 1 << 20


def run(data: bytes) -> None:
    head, *parts = data.split(CUT)
    files = dict(each.partition(b"\n")[::2] for each in parts[:_MOST_FILES])
    if not files or not all(map(_NAME.fullmatch, files)):
        return
    folder = emptied(_folder())
    for name, content in files.items():
        (folder / name.decode()).write_bytes(content)
    (folder / "recipe.toml").write_bytes(_HEAD + head)
    try:
        with mock.patch.object(archives, "ALLOWED_BYTES", _MOST_UNPACKED), silent_invalid_rows():
            _read(folder)
    except BuildError as error:
        check_error(error, str(folder))


def _read(folder: Path) -> None:
    plan = recipe.load(folder / "recipe.toml", auto.options(FORMATS))
    if not _stays_inside(plan):
        return
    plan = auto.resolved(plan, FORMATS)
    build = _Build(plan, _reference(), (), Options(max_rejects=1 << 40), Progress())
    for number, source in enumerate(plan.sources, 1):
        build.add(number, source)
    for rejected, report in zip(build._rejects, build._report.sources, strict=True):
        found = list(rejected.located())
        assert len(found) == report.rejected.total() <= report.read
        assert all(each.reason and each.line >= 0 for each in found)
        assert all(line.isprintable() for line in report.lines())


def _stays_inside(plan: Recipe) -> bool:
    """Return whether a mutated recipe names its own files alone: it might name any."""
    paths = [each.path for each in plan.sources]
    plain = not plan.countries and not plan.enrich.stations
    return plain and len(paths) <= _MOST_FILES and not any(re.search(r"/|\.\.", p) for p in paths)


@cache
def _reference() -> Known:
    path = emptied(_folder()) / "recipe.toml"
    path.write_text(one("csv", "a.csv"))
    return _known(recipe.load(path, auto.options(FORMATS)))


def built_in() -> Iterator[bytes]:
    """Yield one input for each layout; the others are recorded from the readers' tests."""
    for kind in KINDS.values():
        yield _input(kind.recipe, kind.file, kind.content().encode())
    record = {"country": {"iso_code": "CH"}, "traits": {"isp": "x"}}
    yield _input(one("mmdb", "a.mmdb"), "a.mmdb", mmdb({"8.8.8.0/24": record}))


def _input(text: str, name: str, content: bytes) -> bytes:
    return joined(b"[[source]]" + text.partition("[[source]]")[2].encode(), {name: content})


def mutate(data: bytes, change: Change, rng: random.Random) -> bytes:
    """Change one file, seldom all: a broken recipe is another target."""
    parts = data.split(CUT)
    if len(parts) < 2 or rng.randrange(16) == 0:
        return change(data)
    at = rng.randrange(1, len(parts))
    name, _, content = parts[at].partition(b"\n")
    parts[at] = name + b"\n" + change(content)
    return CUT.join(parts)


def targets(recorded: Recorded) -> dict[str, Target]:
    """Return a target for each format, and for ``auto`` one with the inputs of all."""

    def seeds(name: str) -> Iterator[bytes]:
        stated = b'format = "%s"' % name.encode()
        for seed in (*built_in(), *recorded()):
            if name == auto.NAME:
                yield re.sub(rb'format = "[^"\n]*"', stated, seed)
            elif stated in seed.partition(CUT)[0]:
                yield seed

    return {
        f"source-{name}": Target(run, partial(seeds, name), mutate)
        for name in (*FORMATS, auto.NAME)
    }
