"""``geolookup enrich`` on whole files, beside Arrow's reader and writer; processes in turn.

Arrow reads the same file and writes it again; where the output has more columns than the input,
Arrow reads and writes the output. Times are of whole processes, start included, on two cores.
"""

from __future__ import annotations

import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.contenders.answers import CITY_FIELDS, COUNTRY
from benchmarks.harness import measure
from benchmarks.harness.processes import Result

_AGENTS = [
    f"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{at}"
    for at in range(80, 130)
]
_CSV = "import sys, pyarrow.csv as csv; csv.write_csv(csv.read_csv(sys.argv[1]), sys.argv[2])"
_PARQUET = "import sys, pyarrow.parquet as p; p.write_table(p.read_table(sys.argv[1]), sys.argv[2])"


@dataclass(frozen=True, slots=True)
class Case:
    """A file and the fields; Arrow reads the output again if ``of_output``."""

    name: str
    file: str
    fields: Sequence[str]
    goal: float | None = 1.5
    of_output: bool = False


_CASES = (
    Case("CSV of 8 columns, one field", "wide.csv", (COUNTRY,)),
    Case("CSV of 8 columns, eleven fields", "wide.csv", CITY_FIELDS),
    Case("CSV of 3 columns, one field", "narrow.csv", (COUNTRY,)),
    Case("CSV of 3 columns, eleven fields", "narrow.csv", CITY_FIELDS, of_output=True),
    Case("log to CSV, one field", "access.log", (COUNTRY,), of_output=True),
    Case("Parquet, one field", "rows.parquet", (COUNTRY,), None),
)


def measure_files(dataset: Path, column: Path, rounds: int) -> Result:
    """Return the median seconds of the command and of Arrow, by case."""
    ips = pa.ipc.open_file(pa.py_buffer(column.read_bytes())).read_all()["ip"].to_pylist()
    with tempfile.TemporaryDirectory() as name, measure.on_cores(2):
        folder = Path(name)
        _write(folder, ips)
        return {case.name: _run(case, folder, dataset, len(ips), rounds) for case in _CASES}


def _run(case: Case, folder: Path, dataset: Path, rows: int, rounds: int) -> Result:
    source = folder / case.file
    suffix = ".parquet" if source.suffix == ".parquet" else ".csv"
    target, copy = folder / f"out{suffix}", folder / f"copy{suffix}"
    own = [sys.executable, "-m", "geolookup", "enrich", str(source), "--output", str(target)]
    own += ["--force", "--dataset", str(dataset), "--fields", ",".join(case.fields)]
    program = _PARQUET if suffix == ".parquet" else _CSV
    peer = [sys.executable, "-c", program, str(target if case.of_output else source), str(copy)]
    pairs = [(_seconds(own), _seconds(peer)) for _ in range(rounds)]
    own_times, peer_times = zip(*pairs, strict=True)
    return {
        "own": statistics.median(own_times),
        "peer": statistics.median(peer_times),
        "per_second": rows / statistics.median(own_times) / 1e6,
        "ratio": measure.quotient(own_times, peer_times),
        "goal": case.goal,
    }


def _seconds(command: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - began


def _write(folder: Path, ips: Sequence[str]) -> None:
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
    pq.write_table(pa.table({"ip": ips}), folder / "rows.parquet")
