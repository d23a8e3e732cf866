"""The programs that read the syntaxes, in network namespaces of their own where they need one.

A namespace has its own sets, rules and addresses, and is gone with its last process.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.servers import started

_PATH = os.pathsep.join((os.environ["PATH"], "/usr/sbin", "/sbin"))
#: Without the rights of root a namespace of users comes with the network's.
_IS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
_APART = ["unshare", "-n" if _IS_ROOT else "-rn"]


def needs(*programs: str) -> pytest.MarkDecorator:
    """Skip where a program is missing; where nothing may be skipped that is a failure."""
    missing = [program for program in programs if shutil.which(program, path=_PATH) is None]
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}")


def needs_namespace(*programs: str) -> list[pytest.MarkDecorator]:
    """Skip also where the system gives no network namespace, or no rights in it."""
    allowed = (
        shutil.which(_APART[0]) and not subprocess.run([*_APART, "true"], check=False).returncode
    )
    refused = pytest.mark.skipif(not allowed, reason="no network namespace for this user")
    return [pytest.mark.packet_filter, refused, needs(*programs)]


def run(
    *command: str, apart: bool = False, cwd: Path | None = None, text: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end, and return its streams as text."""
    return subprocess.run(
        [*(_APART if apart else ()), *command],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PATH": _PATH},
        cwd=cwd,
        input=text,
    )


def script(folder: Path, text: str) -> str:
    """Run a shell script in a folder and in a namespace; return its output."""
    done = run("sh", "-e", "-c", text, apart=True, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return done.stdout


@contextmanager
def running(ready: Path, *command: str) -> Iterator[None]:
    """Run a daemon in the foreground until the block ends; ``ready`` is the socket it opens."""
    environment = {**os.environ, "PATH": _PATH}
    with started(command, ready, ready.with_name("output"), environment):
        yield


def exchange(listener: Path, text: bytes) -> bytes:
    """Send a text to a socket and return all that comes back until the other side closes it."""
    with socket.socket(socket.AF_UNIX) as line:
        line.settimeout(60)
        line.connect(str(listener))
        line.sendall(text)
        return b"".join(iter(lambda: line.recv(1 << 16), b""))


def response(listener: Path, client: str) -> bytes:
    """Return the answer to a request from a client, as a proxy hands it on (PROXY protocol 1)."""
    family = "TCP6" if ":" in client else "TCP4"
    other = "::1" if ":" in client else "127.0.0.1"
    return exchange(
        listener, f"PROXY {family} {client} {other} 1 2\r\nGET / HTTP/1.0\r\n\r\n".encode()
    )
