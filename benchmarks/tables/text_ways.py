"""``geolookup enrich`` on text files, beside Arrow's reader and writer of CSV; processes in turn.

Strategy: the peer reads the same file and writes it again, or for a log the CSV that came out.
Times are of whole processes, start included, on two cores.
"""

from __future__ import annotations

import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.harness.processes import pin
from benchmarks.tables.contenders import ONE, TEN
from benchmarks.tables.worker import read

ROWS, ROUNDS = 2_000_000, 3
_AGENTS = [
    f"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{at}"
    for at in range(80, 130)
]
_PEER = "import sys, pyarrow.csv as csv; csv.write_csv(csv.read_csv(sys.argv[1]), sys.argv[2])"
#: What the name of a run has if the peer reads and writes the output instead of the input.
_OUTPUT = "of the output"
#: File, name and fields of each run, and how many times as long as the peer it may take.
_RUNS = (
    ("wide.csv", "CSV of 8 columns, one field", ONE, 1.5),
    ("wide.csv", "CSV of 8 columns, ten fields", TEN, 1.5),
    ("narrow.csv", "CSV of 3 columns, one field", ONE, 1.5),
    ("narrow.csv", "CSV of 3 columns, ten fields", TEN, 1.5),
    ("narrow.csv", f"CSV of 3 columns, ten fields, {_OUTPUT}", TEN, 1.5),
    ("access.log", f"log to CSV, one field, {_OUTPUT}", ONE, 1.5),
    ("small.csv", "CSV of 10 rows, one field", ONE, None),
)


def text_files(dataset: str, addresses: str) -> dict[str, Any]:
    """Return for each run the seconds of the command and of the peer, round by round."""
    pin(2)
    ips = read(Path(addresses))["ip"].slice(0, ROWS).to_pylist()
    rounds = ROUNDS if len(ips) == ROWS else 1
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write(folder, ips)
        runs = {
            text: {**_rounds(folder, dataset, file, text, fields, rounds), "goal": goal}
            for file, text, fields, goal in _RUNS
        }
    return {"rows": len(ips), "runs": runs}


def _rounds(
    folder: Path, dataset: str, file: str, text: str, fields: Sequence[str], rounds: int
) -> dict[str, list[float]]:
    source, target, copy = folder / file, folder / "out.csv", folder / "copy.csv"
    command = [sys.executable, "-m", "geolookup", "enrich", str(source), "--output", str(target)]
    command += ["--force", "--dataset", dataset, "--fields", ",".join(fields)]
    read_again = target if text.endswith(_OUTPUT) else source
    arrow = [sys.executable, "-c", _PEER, str(read_again), str(copy)]
    pairs = [(_seconds(command), _seconds(arrow)) for _ in range(rounds)]
    return {"own": [own for own, _ in pairs], "peer": [peer for _, peer in pairs]}


def _seconds(command: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - began


def _write(folder: Path, ips: list[str]) -> None:
    """Write requests as files: ten a second, as a log has them."""
    rng = random.Random(1)
    with (
        (folder / "wide.csv").open("w", encoding="utf-8") as wide,
        (folder / "narrow.csv").open("w", encoding="utf-8") as narrow,
        (folder / "access.log").open("w", encoding="utf-8") as log,
    ):
        wide.write("time,ip,method,path,status,size,referer,user_agent\n")
        narrow.write("id,ip,size\n")
        for at, ip in enumerate(ips):
            agent, size = rng.choice(_AGENTS), rng.randrange(200, 90_000)
            path, day, second = f"/item-{rng.randrange(10_000)}", at // 864_000 + 1, at // 10
            clock = f"{second // 3600 % 24:02}:{second // 60 % 60:02}:{second % 60:02}"
            wide.write(f'2026-11-{day:02}T{clock}Z,{ip},GET,{path},200,{size},,"{agent}"\n')
            narrow.write(f"{at},{ip},{size}\n")
            log.write(f"{ip} - - [{day:02}/Nov/2026:{clock} +0000] ")
            log.write(f'"GET {path} HTTP/1.1" 200 {size} "-" "{agent}"\n')
    rows = ["ip\n", *(f"{ip}\n" for ip in ips[:10])]
    (folder / "small.csv").write_text("".join(rows), encoding="utf-8")


def medians(run: dict[str, Any]) -> tuple[float, float, float]:
    """Return the seconds of the command and of the peer, and the ratio, as medians."""
    quotients = [own / peer for own, peer in zip(run["own"], run["peer"], strict=True)]
    own, peer, ratio = map(statistics.median, (run["own"], run["peer"], quotients))
    return own, peer, ratio
