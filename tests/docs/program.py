"""The command ``geolookup`` for the shells of pages, in a fork of a process that imported it.

A page has dozens of commands; these would spend most of their time with imports. The client that a
shell starts hands its streams, arguments, folder and environment to the process; it forwards
signals, and ends as the command ends. ``python -m tests.docs.program SOCKET`` is the process.
"""

from __future__ import annotations

import marshal
import os
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path

from tests.docs.namespace import environment
from tests.servers import started

#: What a command would spend most of its time to import.
_IMPORTED = (
    *("geolookup.cli.address_files", "geolookup.files.table_files", "geolookup.files.enrich"),
    *("geolookup.integrity", "geolookup.comparison", "geolookup.history.publishing"),
    *("geolookup_builder.compile", "pyarrow.parquet", "pyarrow.compute", "pyarrow.csv"),
    *("pyarrow.json", "pyarrow.dataset"),
)
_CLIENT = """
import marshal, os, signal, socket, sys
line = socket.socket(socket.AF_UNIX)
line.connect(sys.argv[1])
given = marshal.dumps((sys.argv[2:], os.getcwd(), dict(os.environ)))
socket.send_fds(line, [len(given).to_bytes(8, "big")], [0, 1, 2])
line.sendall(given)
command = int.from_bytes(line.recv(8), "big")
for each in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(each, lambda number, _: os.kill(command, number))
status = os.waitstatus_to_exitcode(int.from_bytes(line.recv(8), "big"))
if status < 0:
    signal.signal(-status, signal.SIG_DFL)
    os.kill(os.getpid(), -status)
os._exit(status)
"""


@contextmanager
def program() -> Iterator[Path]:
    """Yield a folder with the command, for the PATH of a shell."""
    with tempfile.TemporaryDirectory(prefix="geo-") as text:
        folder = Path(text)
        address, client = folder / "socket", folder / "client.py"
        client.write_text(_CLIENT, encoding="utf-8")
        command = folder / "bin" / "geolookup"
        command.parent.mkdir()
        command.write_text(
            f"#!/bin/sh\nexec '{sys.executable}' -I -S '{client}' '{address}' \"$@\"\n",
            encoding="utf-8",
        )
        command.chmod(0o755)
        server = [sys.executable, "-m", "tests.docs.program", str(address)]
        with started(server, address, environment=environment(folder)):
            yield command.parent


def _serve(address: str) -> None:
    """Return in each process that is to run a command, with its streams and arguments."""
    for name in _IMPORTED:
        with suppress(ImportError):
            import_module(name)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        while True:
            with suppress(ChildProcessError):  # none is left
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            line, _ = listener.accept()
            if not os.fork():
                break
            line.close()
    size, streams, _, _ = socket.recv_fds(line, 8, 3)
    if not size:  # who asked only whether somebody listens
        os._exit(0)
    inputs = bytearray()
    while len(inputs) < int.from_bytes(size, "big"):
        inputs += line.recv(1 << 20)
    command = os.fork()
    if command:
        line.sendall(command.to_bytes(8, "big"))
        line.sendall(os.waitpid(command, 0)[1].to_bytes(8, "big"))
        os._exit(0)
    line.close()
    arguments, folder, variables = marshal.loads(inputs)  # noqa: S302 - of our own client
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.environ.clear()
    os.environ.update(variables)
    os.chdir(folder)
    sys.argv = ["geolookup", *arguments]


if __name__ == "__main__":
    from geolookup import cli

    _serve(sys.argv[1])
    cli.main()
