"""wrk, a server in a process of its own, and what both did.

Strategy: a server of one worker is kept on one core and wrk on another, if the machine has two. A
server of two workers needs both cores, so wrk takes time from it. Processor time a request is read
beside the rate: it is the cost of the server, also while other programs run.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from socket import SO_REUSEADDR, SOL_SOCKET, create_connection, socket

import click

from benchmarks.harness import measure
from geolookup.http.application import PATH

#: Of each worker.
CONNECTIONS = 64
_PATIENCE = 60
#: Requests in turn over the lists, one behind the other.
_SCRIPT = """
local addresses, keys, at = {{}}, {{}}, 0
for line in io.lines({addresses!r}) do addresses[#addresses + 1] = line end
for line in io.lines({keys!r}) do keys[#keys + 1] = line end
function request()
  at = at + 1
  local headers = {{["X-API-Key"] = keys[at % #keys + 1]}}
  return wrk.format("GET", {path!r} .. "?ip=" .. addresses[at % #addresses + 1], headers)
end
function done(summary, latency)
  io.write(string.format("RESULT %d %d %d %d %f\\n", summary.requests, summary.duration,
    summary.errors.status, summary.errors.connect + summary.errors.read + summary.errors.write
    + summary.errors.timeout, latency:percentile(99)))
end
"""
_RESULT = re.compile(r"RESULT (\d+) (\d+) (\d+) (\d+) ([\d.]+)")


@dataclass(frozen=True, slots=True)
class Round:
    """What one run of wrk counted, and the processor time of the server for a request."""

    requests: int
    rate: float
    refused: int
    failed: int
    p99_ms: float
    microseconds: float


@dataclass(frozen=True, slots=True)
class Running:
    """A server that listens."""

    process: subprocess.Popen[bytes]
    port: int
    workers: int

    def load(self, script: Path, seconds: float) -> Round:
        """Run wrk against it."""
        wrk = shutil.which("wrk")
        if wrk is None:
            raise click.ClickException("wrk is not installed; install the package wrk")
        command = [wrk, "-t1", f"-c{CONNECTIONS * self.workers}", f"-d{max(1, round(seconds))}s"]
        command += ["-s", str(script), f"http://127.0.0.1:{self.port}/"]
        before = self._processor()
        output = subprocess.check_output(_on_cores("0", command), text=True)
        processor = self._processor() - before
        match = _RESULT.search(output)
        if match is None:
            raise AssertionError(output)
        requests, micro, refused, failed = map(int, match.groups()[:4])
        rate, p99_ms = requests / micro * 1e6, float(match[5]) / 1e3
        return Round(requests, rate, refused, failed, p99_ms, processor / requests * 1e6)

    def memory(self) -> int:
        """Return the bytes of their own that the workers have in memory."""
        return sum(measure.memory("RssAnon", worker) or 0 for worker in self._children())

    def _processor(self) -> float:
        """Return the processor time of the workers so far, in seconds."""
        ticks = 0
        for worker in self._children():
            text = Path(f"/proc/{worker}/stat").read_text(encoding="utf-8")
            user, system = text.rpartition(")")[2].split()[11:13]
            ticks += int(user) + int(system)
        return ticks / os.sysconf("SC_CLK_TCK")

    def _children(self) -> list[int]:
        path = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [int(child) for child in path.read_text(encoding="ascii").split()]


@contextmanager
def run_server(
    name: str, data: Path, accounts: str, plans: Path, workers: int = 1
) -> Iterator[Running]:
    """Start a server of ``benchmarks.http.servers`` by its name, and stop it in the end."""
    with closing(socket()) as holder:
        # It never listens. While it has the port, the system gives it to nobody who asks for any.
        holder.setsockopt(SOL_SOCKET, SO_REUSEADDR, 1)
        holder.bind(("127.0.0.1", 0))
        port = holder.getsockname()[1]
        command = [sys.executable, "-m", "benchmarks.http.servers", name, str(data), str(port)]
        last = (os.cpu_count() or 1) - 1
        cores = f"{max(0, last + 1 - workers)}-{last}"
        process = subprocess.Popen(_on_cores(cores, [*command, str(workers), accounts, str(plans)]))
        try:
            _until_listening(process, port)
            yield Running(process, port, workers)
        finally:
            process.terminate()
            process.wait(_PATIENCE)


def write_script(folder: Path, name: str, addresses: Sequence[str], keys: Sequence[str]) -> Path:
    """Write a script that asks for the addresses in turn, with the keys in turn."""
    files = {kind: str(folder / f"{name}-{kind}") for kind in ("addresses", "keys")}
    Path(files["addresses"]).write_text("\n".join(addresses), encoding="ascii")
    Path(files["keys"]).write_text("\n".join(keys), encoding="ascii")
    script = folder / f"{name}.lua"
    script.write_text(_SCRIPT.format(path=PATH, **files), encoding="utf-8")
    return script


def _on_cores(cores: str, command: Sequence[str]) -> list[str]:
    taskset = shutil.which("taskset") if (os.cpu_count() or 1) > 1 else None
    return [taskset, "-c", cores, *command] if taskset else list(command)


def _until_listening(process: subprocess.Popen[bytes], port: int) -> None:
    ends = time.monotonic() + _PATIENCE
    while time.monotonic() < ends and process.poll() is None:
        try:
            return create_connection(("127.0.0.1", port)).close()
        except ConnectionRefusedError:
            time.sleep(0.05)
    raise AssertionError("the server did not start")
