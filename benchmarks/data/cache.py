"""Generated sources and built datasets, kept under ``benchmarks/cache``.

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

import geolookup
from benchmarks.data.generate import CSV, RECIPE, SEED
from benchmarks.data.shape import SCALES
from benchmarks.harness.processes import ROOT
from geolookup.dataset import layout as fmt

FOLDER = ROOT / "benchmarks" / "cache"
_HERE = Path(__file__).resolve().parent
MMDB = "city.mmdb"
_GENERATOR = ("generate.py", "geolite.py", "shape.py", "prefixes.py", "records.py", "sampling.py")


def source(name: str, generator: str, size: list[str], *, seed: int = SEED) -> Path:
    """Return the recipe of a generated source; ``size`` are options of the ``generator``.

    That is the name of a benchmark that writes one: ``generate`` or ``geolite``.

    It is made in a process of its own: the caller's memory stays small.
    """

    def make(folder: Path) -> None:
        command = [sys.executable, "-m", "benchmarks", generator, str(folder), *size]
        command += ["--seed", str(seed)]
        subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)

    key = _digest(_HERE / path for path in _GENERATOR)
    return _make_once(f"source-{name}-{seed}", key, make) / RECIPE


def dataset(scale: str, *, seed: int = SEED) -> Path:
    """Return the built dataset of a scale; its CSV is not kept."""
    code = [*(_HERE / name for name in _GENERATOR), *_compiler()]

    def make(folder: Path) -> None:
        from geolookup_builder.compile import compile_dataset
        from geolookup_builder.overlaid_sources import Options

        from benchmarks.data import generate
        from geolookup.progress import Progress

        generated = generate.write(folder, SCALES[scale], seed)
        compile_dataset(generated.recipe, folder / "dataset", Options(), Progress())
        (folder / CSV).unlink()

    return _make_once(f"dataset-{scale}-{seed}", _digest(code), make) / "dataset"


def built_dataset(recipe: Path) -> Path:
    """Return the dataset of a generated source."""

    def make(folder: Path) -> None:
        from geolookup_builder.compile import compile_dataset
        from geolookup_builder.overlaid_sources import Options

        from geolookup.progress import Progress

        compile_dataset(recipe, folder / "dataset", Options(), Progress())

    name = recipe.parent.name.replace("source-", "built-", 1)
    return _make_once(name, _digest(_compiler()), make) / "dataset"


def _compiler() -> list[Path]:
    package = Path(geolookup.__file__).parent
    return [package / "dataset" / "layout.py", *sorted((ROOT / "builder").rglob("*.py"))]


def mmdb(scale: str, *, seed: int = SEED) -> Path:
    """Return the MMDB that says what the dataset of a scale does; minutes and GBs, once.

    The key holds the bytes it is made from, and not the code that made those:
    most changes of the compiler do not affect them.
    """
    return _mmdb(dataset(scale, seed=seed), "city", f"mmdb-{scale}-{seed}")


def mmdb_of(folder: Path, content: str) -> Path:
    """Return the MMDB of a dataset of ``built_dataset``; ``content`` is "city" or "asn"."""
    return _mmdb(folder, content, folder.parent.name.replace("built-", f"mmdb-{content}-", 1)[:-13])


def _mmdb(source: Path, content: str, name: str) -> Path:
    parts = [source / file for file in fmt.ANSWERING]
    key = _digest([_HERE / "mmdb.py", *parts])

    def make(folder: Path) -> None:
        import mmdb_writer  # noqa: F401 - a missing one is said here, not by the child

        target = str(folder / MMDB)
        command = [sys.executable, "-m", "benchmarks.data.mmdb", str(source), target, content]
        subprocess.run(command, check=True, cwd=ROOT)

    return _make_once(name, key, make) / MMDB


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
