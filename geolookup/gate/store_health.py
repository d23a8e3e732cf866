"""The health of a store: outages are remembered, and a thread of the service probes.

Strategy: after one failure all requests fail at once, without a timeout each. Requests to a server
fail until a probe is answered, and each probe that fails renews the outage. A failure that no probe
follows, such as a locked file, or without the thread, is forgotten after a time.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Thread
from time import monotonic

from geolookup.errors import AccountsError
from geolookup.gate.account_store import Store

Report = Callable[[AccountsError | None], None]
#: Seconds between two probes.
PAUSE = 1.0


class Outage:
    """Whether a store is known to be unusable; safe to use from many threads.

    A failure is remembered for ``seconds``, at least until the next probe has ended.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.over()

    def over(self) -> None:
        """Forget the failure: the store answered."""
        self._error: AccountsError | None = None
        self._until = 0.0

    def note(self, error: AccountsError) -> None:
        """Remember a failure."""
        self._error, self._until = error, monotonic() + self._seconds

    def check(self) -> None:
        """Raise the remembered failure."""
        error = self._error
        if error is not None and monotonic() < self._until:
            raise AccountsError(error.path, error.problem, error.remedy)


class Probes:
    """A running thread that probes; ``report`` is called with each probe's problem, or None."""

    def __init__(self, store: Store, report: Report) -> None:
        self._store, self._report = store, report
        self._stopped = Event()
        self._thread = Thread(target=self._run, name="geolookup-gate", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread; return when it has ended."""
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        while True:
            problem = None
            try:
                self._store.probe()
            except AccountsError as error:
                problem = error
            self._report(problem)
            if self._stopped.wait(PAUSE):
                return
