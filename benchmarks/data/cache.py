"""Generated sources, built datasets and their MMDB files, kept under ``benchmarks/cache``.

A folder's name holds a digest of the code that makes its content: output of older code is never
measured; it is removed when the newer is made.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Literal

import geolookup
from benchmarks.contenders.answers import CITY_FIELDS
from benchmarks.contenders.opening import Files
from benchmarks.data import generate
from benchmarks.data.shape import SCALES
from benchmarks.harness.processes import ROOT
from geolookup.dataset import layout as fmt

FOLDER = ROOT / "benchmarks" / "cache"
_HERE = Path(__file__).resolve().parent
_MMDB = "answers.mmdb"
#: The fields of small records.
SMALL = tuple(path for path in CITY_FIELDS if ".continent_" in path or ".country_" in path)


def source(generator: str, rows: int) -> Path:
    """Return the recipe of a generated source; ``generator`` is "csv" or "geolite".

    It is made in a process of its own: the caller's memory stays small.
    """

    def make(folder: Path) -> None:
        command = [sys.executable, "-m", "benchmarks", "generate", generator, str(folder)]
        command += ["--rows", str(rows)]
        subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)

    return _make_once(f"source-{generator}-{rows}", _digest(_generator()), make) / generate.RECIPE


def files(scale: str) -> Files:
    """Return the city dataset of a scale, and the MMDB that says the same; its CSV is not kept."""
    return _files(f"city-{scale}", scale, "", "city", CITY_FIELDS)


def country_files(scale: str) -> Files:
    """Return the same with countries only: the smallest records."""
    return _files(f"country-{scale}", scale, generate.COUNTRIES, "country", SMALL)


def _files(
    name: str,
    scale: str,
    more: str,
    schema: Literal["city", "country"],
    fields: tuple[str, ...],
) -> Files:
    code = [*_generator(), *_compiler()]

    def make(folder: Path) -> None:
        recipe = generate.write(folder, SCALES[scale]).recipe
        recipe.write_text(recipe.read_text(encoding="utf-8") + more, encoding="utf-8")
        geolookup.build(recipe, folder / "dataset")
        (folder / generate.CSV).unlink()
        with geolookup.open(folder / "dataset") as engine:
            engine.export(folder / _MMDB, "mmdb", schema=schema, fields=fields)

    folder = _make_once(name, _digest(code), make)
    return Files(folder / "dataset", folder / _MMDB)


def _generator() -> list[Path]:
    return sorted(path for path in _HERE.glob("*.py") if path.name != "cache.py")


def _compiler() -> list[Path]:
    package = Path(geolookup.__file__).parent
    folders = (ROOT / "builder", package / "export")
    return [
        Path(fmt.__file__),
        *sorted(path for folder in folders for path in folder.rglob("*.py")),
    ]


def _digest(paths: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def _make_once(name: str, key: str, make: Callable[[Path], None]) -> Path:
    """Return a folder that ``make`` has filled, now or earlier with the same code."""
    folder = FOLDER / f"{name}-{key}"
    if not folder.is_dir():
        if sys.stderr.isatty():
            print(f"making {name}, once", file=sys.stderr)
        FOLDER.mkdir(exist_ok=True)
        for old in FOLDER.glob(f"{name}-????????????"):
            shutil.rmtree(old)
        fresh = Path(tempfile.mkdtemp(prefix=".", dir=FOLDER))
        try:
            make(fresh)
            fresh.rename(folder)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    return folder
