"""Generated sources and built datasets, kept under ``benchmarks/cache``.

A folder's name holds a digest of the code that makes its content, so that
what older code made is never measured; it is removed when the newer is made.
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
from benchmarks.generate import CSV, RECIPE, SEED
from benchmarks.shape import SCALES
from geolookup import format as fmt

ROOT = Path(__file__).resolve().parent
FOLDER = ROOT / "cache"
MMDB = "city.mmdb"
_GENERATOR = ("generate.py", "shape.py", "prefixes.py", "records.py", "draws.py")


def source(name: str, size: list[str], *, seed: int = SEED) -> Path:
    """Return the recipe of a generated source; ``size`` are the options of ``generate``.

    It is made in a process of its own, so that the caller's memory stays small.
    """

    def make(folder: Path) -> None:
        command = [sys.executable, "-m", "benchmarks", "generate", str(folder), *size]
        command += ["--seed", str(seed)]
        subprocess.run(command, check=True, cwd=ROOT.parent, stdout=subprocess.DEVNULL)

    key = _digest(ROOT / each for each in _GENERATOR)
    return _kept(f"source-{name}-{seed}", key, make) / RECIPE


def dataset(scale: str, *, seed: int = SEED) -> Path:
    """Return the built dataset of a scale; its CSV is not kept."""
    package = Path(geolookup.__file__).parent
    code = [*(ROOT / each for each in _GENERATOR), package / "format.py"]
    code += sorted((ROOT.parent / "builder").rglob("*.py"))

    def make(folder: Path) -> None:
        from benchmarks import generate
        from builder.compile import Options, compile_dataset
        from builder.report import Progress

        made = generate.write(folder, SCALES[scale], seed)
        compile_dataset(made.recipe, folder / "dataset", Options(), Progress())
        (folder / CSV).unlink()

    return _kept(f"dataset-{scale}-{seed}", _digest(code), make) / "dataset"


def mmdb(scale: str, *, seed: int = SEED) -> Path:
    """Return the MMDB that says what the dataset of a scale does; minutes and GBs, once.

    The key holds the bytes it is made from, and not the code that made those:
    most changes of the compiler leave them as they are.
    """
    source = dataset(scale, seed=seed)
    parts = [source / name for name in (fmt.IPV4, fmt.IPV6, fmt.LOCATION, fmt.COUNTRY, fmt.ZONE)]
    key = _digest([ROOT / "mmdb.py", *parts])

    def make(folder: Path) -> None:
        import mmdb_writer  # noqa: F401 - a missing one is said here, not by the child

        command = [sys.executable, "-m", "benchmarks.mmdb", str(source), str(folder / MMDB)]
        subprocess.run(command, check=True, cwd=ROOT.parent)

    return _kept(f"mmdb-{scale}-{seed}", key, make) / MMDB


def _digest(paths: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def _kept(name: str, key: str, make: Callable[[Path], None]) -> Path:
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
