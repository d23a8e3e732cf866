"""``delta``: ways to ship a release that changes one row in a hundred, and their cost.

Beside it, the patch of zstd between the tar files of both datasets, if the program is there.
"""

from __future__ import annotations

import shutil
import subprocess
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from benchmarks.build.generated import CSV_ROWS
from benchmarks.data import cache, changed
from benchmarks.harness import measure, reports
from benchmarks.harness.processes import Result, result_of
from benchmarks.harness.ratios import Ratio, ratio_table
from benchmarks.harness.tables import Cell, Number, Table
from geolookup.dataset import layout as fmt

_CHILD = "benchmarks.delta.child"
#: Bytes, seconds and bytes of memory that the delta is wanted within.
_BYTES, _SECONDS, _MEMORY = 1.0, 2.0, 300.0
WHOLE, WITH, WITHOUT = "whole archive", "delta, with --previous", "delta, without"
ZSTD = "zstd --patch-from of the tar"


def measure_delta(rows: int, share: float) -> Result:
    """Build two releases, and pack and apply each archive between them."""
    recipe = cache.source(f"rows-{rows}", "generate", ["--rows", str(rows)])
    old = cache.built_dataset(recipe)
    with TemporaryDirectory(prefix=".delta-", dir=cache.FOLDER) as folder:
        root = Path(folder)
        new = changed.write(recipe, root, share)
        stable, plain = (_build(new, root / name, previous) for name, previous in _previous(old))
        results = {
            WITH: _ship(stable, old, root / "with"),
            WITHOUT: _ship(plain, old, root / "without"),
            WHOLE: _ship(stable, None, root / "whole"),
        }
        if shutil.which("zstd"):
            results[ZSTD] = _patch(old, stable, root)
    return {"rows": results, "share": share, "machine": measure.facts(pinned=False)}


def _previous(old: Path) -> list[tuple[str, Path | None]]:
    return [("stable", old), ("plain", None)]


def _build(recipe: Path, output: Path, previous: Path | None) -> Path:
    from geolookup_builder.calls import build

    build(recipe, output, previous=previous)
    return output


def _ship(dataset: Path, base: Path | None, target: Path) -> Result:
    """Pack a dataset and unpack it, each in a process of its own."""
    archive = target.with_suffix(".tar.zst")
    against = "none" if base is None else base
    pack = result_of(_CHILD, "pack", dataset, archive, against)
    apply = result_of(_CHILD, "unpack", archive, target, against)
    return {"bytes": archive.stat().st_size, "pack": pack, "apply": apply}


def _patch(old: Path, new: Path, root: Path) -> Result:
    """Make a patch between the tar files, and apply it; nothing is verified."""
    old_tar, new_tar = _tar(old, root / "old.tar"), _tar(new, root / "new.tar")
    patch, out = root / "patch", root / "out.tar"
    long = ["zstd", "-q", "--long=30", f"--patch-from={old_tar}"]
    pack = _seconds([*long, "-9", str(new_tar), "-o", str(patch)])
    apply = _seconds([*long, "-d", "--memory=2048MB", str(patch), "-o", str(out)])
    return {"bytes": patch.stat().st_size, "pack": pack, "apply": apply}


def _tar(dataset: Path, target: Path) -> Path:
    with tarfile.open(target, "w") as tar:
        for name in (fmt.MANIFEST, *sorted(fmt.FILES)):
            tar.add(dataset / name, name)
    return target


def _seconds(command: list[str]) -> Result:
    began = time.perf_counter()
    subprocess.run(command, check=True)
    return {"seconds": time.perf_counter() - began}


def lines(result: Result) -> Iterator[reports.Part]:
    """Yield bytes, times and memory of each way, and the bounds."""
    title = f"{result['share']:.0%} of the rows changed"
    header = (title, "bytes", "pack", "apply", "CPU of apply", "memory of apply")
    yield Table("delta", header, [_row(*item) for item in result["rows"].items()], ours=_OURS)
    delta = result["rows"][WITH]
    apply = delta["apply"]
    ratios = [
        Ratio("bytes of the delta", delta["bytes"] / 1e6, _BYTES, unit=" MB"),
        Ratio("seconds to apply it", apply["seconds"], _SECONDS, unit=" s"),
        Ratio("memory to apply it", (apply["peak_memory"] or 0) / 1e6, _MEMORY, unit=" MB"),
    ]
    yield ratio_table("delta-bounds", "delta", ratios)


_OURS = ("delta", "whole")


def _row(name: str, way: Result) -> tuple[str, *tuple[Cell, ...]]:
    apply = way["apply"]
    peak = apply.get("peak_memory")
    return (
        name,
        Number(way["bytes"]),
        Number(way["pack"]["seconds"], ".1f", " s"),
        Number(apply["seconds"], ".1f", " s"),
        Number(apply["cpu"], ".1f", " s") if "cpu" in apply else "",
        Number(peak / 1e6, ",.0f", " MB") if peak else "",
    )


@click.command("delta", help="Ship a release with some changed rows, as a delta and whole.")
@click.option("--rows", type=click.IntRange(2000), default=CSV_ROWS, show_default=True)
@click.option("--share", type=click.FloatRange(0, 1), default=0.01, show_default=True)
@reports.outputs()
def command(rows: int, share: float, outputs: reports.Outputs) -> None:
    """Measure and print."""
    result = measure_delta(rows, share)
    outputs.tell(lines(result), result)
