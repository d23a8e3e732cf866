"""Servers that tests start: reserved ports, processes, and the wait until they accept."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.conftest import ROOT

#: Seconds until a test fails: a safety net, on a loaded machine too.
PATIENCE = 120
_REDIS = shutil.which("redis-server") or shutil.which("valkey-server")
#: Temporary folders of nginx; unless they are configured, it makes them in system folders.
_TEMPORARY = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
_reserved: list[socket.socket] = []


def free_port() -> int:
    """Reserve a port of the loopback interface until this process ends, and return it.

    A bound socket that does not listen keeps the system from giving its port to others. With
    SO_REUSEADDR (servers set it as well) Linux lets one of them bind it beside.
    """
    holder = socket.socket()
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    holder.bind(("127.0.0.1", 0))
    port: int = holder.getsockname()[1]
    if sys.platform.startswith("linux"):
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        _reserved.append(holder)
    else:  # elsewhere the server could not bind it
        holder.close()
    return port


def until(condition: Callable[[], object], problem: Callable[[], str] = str) -> None:
    """Wait for a condition; fail after PATIENCE seconds."""
    ends = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < ends, problem()
        time.sleep(0.02)


def accepts(address: int | Path) -> bool:
    """Return whether a server accepts connections at a port or a Unix socket."""
    unix = isinstance(address, Path)
    with closing(socket.socket(socket.AF_UNIX if unix else socket.AF_INET)) as client:
        try:
            client.connect(str(address) if unix else ("127.0.0.1", address))
        except (ConnectionRefusedError, FileNotFoundError):
            return False
        return True


def family(process: int) -> list[int]:
    """Return a process and its descendants."""
    parents = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # ended meanwhile
            # The name in parentheses may hold anything; state and parent follow it.
            parents[int(status.parent.name)] = int(
                status.read_bytes().rpartition(b")")[2].split()[1]
            )
    processes = [process]
    for parent in processes:  # grows meanwhile
        processes += [child for child, of in parents.items() if of == parent]
    return processes


@contextmanager
def started(
    command: Sequence[str],
    address: int | Path,
    output: Path = Path(os.devnull),
    environment: Mapping[str, str] | None = None,
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server until it accepts connections, and while in use."""
    with output.open("wb") as file:
        process = subprocess.Popen(command, cwd=ROOT, stdout=file, stderr=file, env=environment)
    try:
        until(lambda: accepts(address) or process.poll() is not None)
        assert process.poll() is None, f"{command}: {output.read_text(encoding='utf-8')}"
        yield process
    finally:
        process.send_signal(signal.SIGCONT)
        process.terminate()
        process.wait(PATIENCE)


class Redis(NamedTuple):
    """A running server, and the URL of its first database."""

    process: subprocess.Popen[bytes]
    port: int
    url: str

    def end(self) -> None:
        """Kill it, as a crash does."""
        self.process.kill()
        self.process.wait()

    def silence(self) -> None:
        """Let it accept connections and answer nothing, until ``answer``."""
        self.process.send_signal(signal.SIGSTOP)

    def answer(self) -> None:
        self.process.send_signal(signal.SIGCONT)


@contextmanager
def redis(folder: Path, *options: str, port: int | None = None) -> Iterator[Redis]:
    """Run a Redis or Valkey server that keeps its data in a folder and no write to itself."""
    pytest.importorskip("redis")
    if _REDIS is None:
        pytest.skip("no redis-server or valkey-server installed")
    port = port or free_port()
    command = [_REDIS, "--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder)]
    command += ["--save", "", "--appendonly", "yes", *options]
    with started(command, port) as process:
        until(lambda: _has_loaded(port))
        yield Redis(process, port, f"redis://127.0.0.1:{port}/0")


def _has_loaded(port: int) -> bool:
    """Return whether a server that accepts connections has read its data back."""
    with socket.create_connection(("127.0.0.1", port), PATIENCE) as client:
        client.sendall(b"PING\r\n")
        return not client.recv(64).startswith(b"-LOADING")


@contextmanager
def nginx(folder: Path, port: int, configuration: str) -> Iterator[int]:
    """Run nginx with the text of a configuration; yield its port."""
    if shutil.which("nginx") is None:
        pytest.skip("no nginx installed")
    file = folder / "nginx.conf"
    file.write_text(configuration, encoding="utf-8")
    command = ["nginx", "-p", str(folder), "-e", "stderr", "-c", str(file)]
    with started(command, port, folder / "nginx.log"):
        yield port


def nginx_files(folder: Path) -> str:
    """Return the lines of a configuration that put all files of nginx into a folder."""
    return "".join(f'{name}_temp_path "{folder}/{name}";\n' for name in _TEMPORARY)
