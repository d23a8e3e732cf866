"""Builds, publications and packings that are killed in a loop: what they leave, and what is swept.

At any time at most one process writes, so that never more than its own temporary folder may lie
beside the results. The last build must succeed and leave nothing but its dataset.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RECIPE = '[dataset]\nname = "x"\n[[source]]\nformat = "csv"\npath = "a.csv"\n'
KILLS = 30


def attack() -> None:
    """Kill builds at random times, build once more, and count what is left."""
    rng = random.Random(1)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        rows = (
            f"{at >> 16 & 127 | 1}.{at >> 8 & 255}.{at & 255}.0/24,x{at}\n" for at in range(1 << 19)
        )
        (folder / "a.csv").write_text("network,isp\n" + "".join(rows), encoding="utf-8")
        (folder / "r.toml").write_text(RECIPE, encoding="utf-8")
        (folder / "out").mkdir()
        began = time.monotonic()
        assert _build(folder, None) == 0
        whole, most, left = time.monotonic() - began, 0, 0
        for _ in range(KILLS):
            _build(folder, rng.uniform(0.6, 1.0) * whole)
            left += bool(_leftovers(folder))
            most = max(most, len(_leftovers(folder)))
        size = sum(path.stat().st_size for path in (folder / "out").rglob("*") if path.is_file())
        assert _build(folder, None) == 0
        print(
            f"{KILLS} builds killed, {left} left something, {most} leftovers at most,"
            f" {size >> 20} MiB with the dataset; {len(_leftovers(folder))} after the next build"
        )
        assert left, "no build was killed while it wrote"
        assert most <= 1
        assert _leftovers(folder) == []


def _build(folder: Path, seconds: float | None) -> int | None:
    """Build, and kill the build after so many seconds."""
    with subprocess.Popen(
        [sys.executable, "-m", "geolookup", "build", "r.toml", "--output", "out/x", "--force"],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    ) as process:
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
    return process.returncode


def _leftovers(folder: Path) -> list[str]:
    return [path.name for path in (folder / "out").iterdir() if path.name.startswith(".")]
