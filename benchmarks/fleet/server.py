"""nginx, serving one folder on a socket of its own: the server behind the proxy."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.fleet.edges import end_with_parent

#: Where distributions install it that keep it out of a user's search path.
_FOLDERS = "/usr/sbin:/usr/local/sbin"
#: Seconds for the socket to appear.
_PATIENCE = 20.0
_CONFIGURATION = """\
daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log stderr crit;
{user}
events {{ worker_connections 4096; }}
http {{
    access_log off;
    default_type application/octet-stream;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{ listen unix:{folder}/socket; location / {{ root {root}; }} }}
}}
"""


def program() -> str | None:
    """Return the path of nginx; None where it is not installed."""
    return shutil.which("nginx", path=os.pathsep.join((os.environ.get("PATH", ""), _FOLDERS)))


@contextmanager
def serve_folder(root: Path, folder: Path) -> Iterator[str]:
    """Serve the files of ``root`` for the block; yield the path of the socket.

    ``folder`` takes what nginx writes. Its path has at most 90 bytes: the path of a socket is
    limited.
    """
    user = "user root;" if os.getuid() == 0 else ""  # else it could not enter folders of root
    file = folder / "nginx.conf"
    file.write_text(_CONFIGURATION.format(folder=folder, root=root, user=user), encoding="utf-8")
    process = subprocess.Popen(
        [program() or "nginx", "-p", str(folder), "-e", "stderr", "-c", str(file)],
        preexec_fn=end_with_parent,  # noqa: PLW1509 - this process has one thread
    )
    try:
        _wait_for(folder / "socket", process)
        yield str(folder / "socket")
    finally:
        process.terminate()
        process.wait()


def _wait_for(socket: Path, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + _PATIENCE
    while not socket.exists():
        if process.poll() is not None or time.monotonic() > end:
            raise RuntimeError(f"nginx does not serve {socket}")
        time.sleep(0.02)
