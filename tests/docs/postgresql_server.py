"""A PostgreSQL server of our own, with its socket, in a temporary folder.

``python -m tests.docs.postgresql_server FOLDER`` serves until it is ended: examples of a page
run it as a job.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

_ACCOUNT = "postgres"
#: Nothing that is written has to outlive the server.
_SETTINGS = ("fsync=off", "full_page_writes=off", "listen_addresses=", "shared_buffers=32MB")


def programs() -> Path | None:
    """The folder of the server's programs, of the newest version; None without a server."""
    result = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    named = shutil.which("initdb")
    return result[-1].parent if result else Path(named).parent if named else None


@contextmanager
def server() -> Iterator[dict[str, str]]:
    """Serve; yield the variables with which psql finds the server."""
    folder = programs()
    assert folder
    # The server refuses to run as root.
    user = _ACCOUNT if os.getuid() == 0 else None
    with tempfile.TemporaryDirectory(prefix="geolookup-postgresql-") as name:
        if user:
            shutil.chown(name, user)
        data = f"{name}/data"
        options = ["-A", "trust", "-U", "reader", "-E", "UTF8", "--no-locale", "--no-sync"]
        settings = [part for setting in _SETTINGS for part in ("-c", setting)]
        command = [str(folder / "postgres"), "-D", data, "-k", name, *settings]
        quiet = partial(
            subprocess.Popen[bytes], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        made = quiet([str(folder / "initdb"), "-D", data, *options], cwd=name, user=user).wait()
        assert made == 0
        with quiet(command, cwd=name, user=user) as process:
            variables = {"PGHOST": name, "PGUSER": "reader", "PGDATABASE": "postgres"}
            try:
                _wait(variables)
                yield variables
            finally:
                process.send_signal(signal.SIGQUIT)


def _wait(variables: dict[str, str]) -> None:
    ends = time.monotonic() + 60
    while time.monotonic() < ends:
        command = ["psql", "-X", "-c", "select 1"]
        env = {**os.environ, **variables}
        if not subprocess.run(command, env=env, capture_output=True, check=False).returncode:
            return
        time.sleep(0.05)
    raise TimeoutError("PostgreSQL does not answer")


if __name__ == "__main__":
    # A link to the folder of the socket stands where the reader is.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    with server() as _variables:
        Path(sys.argv[1]).symlink_to(_variables["PGHOST"])
        signal.pause()
