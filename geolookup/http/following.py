"""``serve --follow``: a process beside the server that follows a mirror.

Strategy: the follower publishes into the store, and the workers install what is published there as
they do without it. So the server answers whatever becomes of the mirror or of the follower. It is
a process of its own: workers are forked from the server, which therefore holds no locks.
"""

from __future__ import annotations

import logging
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread

from geolookup.errors import SettingsError
from geolookup.http.settings import Settings
from geolookup.http.supervision import Backoff
from geolookup.mirrors.child import command, environment
from geolookup.mirrors.polling import Polling, current_in

#: Exit status of a follower whose options cannot be met: another start cannot help.
_MISUSE = 2
#: Seconds until a follower that does not stop is killed; between two looks at an empty store.
_KILL_AFTER, _LOOK = 2.0, 0.2
_log = logging.getLogger("geolookup.http")


@contextmanager
def followed(url: str, settings: Settings) -> Iterator[None]:
    """Let the store of ``settings`` follow a mirror while the block runs.

    The block begins when the store has a generation. Raises SettingsError without a store, and
    where the follower cannot start.
    """
    if settings.dataset is None:
        raise SettingsError("--follow needs the store that follows; give --dataset STORE")
    follower = _Follower(_command(url, Path(settings.dataset), settings.polling))
    try:
        _await_generation(Path(settings.dataset), url, follower)
        yield
    finally:
        follower.end()


def _command(url: str, store: Path, polling: Polling) -> list[str]:
    options = ["--store", str(store), "--every", f"{polling.every:.3f}s"]
    options += ["--jitter", str(polling.jitter), "--keep", str(polling.keep), "--until-eof"]
    if polling.budget is not None:
        options += ["--budget", str(polling.budget)]
    for key in polling.trust:
        options += ["--trust", str(key)]
    return command("geolookup", "follow", url, *options)


def _await_generation(store: Path, url: str, follower: _Follower) -> None:
    """Wait until a store has a generation to answer from."""
    if current_in(store):
        return
    _log.warning("%s has no generation; fetching one from %s first", store, url)
    while not current_in(store):
        if follower.gave_up.wait(_LOOK):
            raise SettingsError(f"{store} has no generation, and cannot follow {url}")


class _Follower:
    """The process of a follower; it is started again when it dies."""

    def __init__(self, command: list[str]) -> None:
        self._command = command
        self._ended, self.gave_up = Event(), Event()
        self._process = self._started()
        self._thread = Thread(target=self._supervise, name="geolookup-follow", daemon=True)
        self._thread.start()

    def _started(self) -> subprocess.Popen[bytes]:
        # Its input ends with this process. In a session of its own, Ctrl-C does not reach it.
        return subprocess.Popen(  # noqa: S603 (our own interpreter)
            self._command,
            stdin=subprocess.PIPE,
            stdout=sys.stderr,
            env=environment(),
            start_new_session=True,
        )

    def _supervise(self) -> None:
        backoff = Backoff()
        while not self._ended.is_set():
            born = time.monotonic()
            status = self._process.wait()
            if self._ended.is_set():
                return
            if status == _MISUSE:
                _log.error("the follower ended with status %d; the mirror is not followed", status)
                break
            delay = backoff.delay(0, time.monotonic() - born)
            _log.error("the follower ended (%d); starting it again in %.1f s", status, delay)
            if not self._ended.wait(delay):
                self._start_again()
        self.gave_up.set()

    def _start_again(self) -> None:
        """Start the process; where the system refuses, that is tried again like a death."""
        with suppress(OSError):  # the next look finds the dead one
            self._process = self._started()

    def end(self) -> None:
        """Stop the process, also one that was started meanwhile."""
        self._ended.set()
        self._process.terminate()
        self._thread.join(_KILL_AFTER)
        self._process.kill()
        self._process.wait()
