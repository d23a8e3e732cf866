"""Group commit: requests that come together share one transaction.

Strategy: a transaction or a round trip costs several times as much as a decision. The event loop
passes all waiting requests at once, and the store decides them together.

A remote store may be silent, so a thread asks it, and the loop goes on. Requests that come
meanwhile are decided together when the thread is free. Cached refusals need no thread.

Anybody can make keys of the right form. So *strangers*, keys that were not valid before, are read
on a thread of their own, and a valid key never waits for them. If too many of them wait, more are
refused.
"""

from __future__ import annotations

from asyncio import Task, get_running_loop
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, NamedTuple, TypeVar

from geolookup.errors import AccountsError
from geolookup.gate.accounts import Accounts
from geolookup.gate.admissions import TOGETHER, Admission

_Request = TypeVar("_Request")
_Outcome = TypeVar("_Outcome")
#: Called with requests and the outcome of each: an exception if it is refused, else None.
OnDecided = Callable[[Sequence[_Request], Sequence[Exception | None]], None]
#: The most requests of strangers that wait: a Redis 2 ms away answers them in a fraction of a
#: second.
MOST_STRANGERS = 8 * TOGETHER
_BUSY = AccountsError("account store", "too many unknown keys are waiting", "try again later")


class _Waiting(NamedTuple, Generic[_Request]):
    """A request that waits for the store."""

    key: object
    request: _Request
    on_decided: OnDecided[_Request]


class GroupCommit(Generic[_Request]):
    """Admissions for the requests of one event loop."""

    def __init__(self, accounts: Accounts) -> None:
        self._accounts = accounts
        self._known = _Lane[_Request, Exception | None](accounts.admit_together, _decided)
        self._strangers = _Lane[_Request, Admission | Exception](accounts.read, self._read)

    def admit(
        self, keys: Sequence[object], requests: Sequence[_Request], on_decided: OnDecided[_Request]
    ) -> None:
        """Decide and count requests that came together; call ``on_decided`` with each once.

        ``keys`` has the text of the key of each request, None if it has none. The outcomes are the
        errors of ``Accounts.admit``. Never waits for another machine: ``on_decided`` can be
        called later, on the running loop.
        """
        if not self._accounts.remote:
            on_decided(requests, _outcomes(self._accounts.admit_together, keys))
            return
        now = self._accounts.now()
        by_key = {key: self._accounts.look_up(key, now) for key in set(keys)}
        refused, known = [], []
        strangers: list[_Waiting[_Request]] = []
        room = MOST_STRANGERS - len(self._strangers.queue)
        for key, request in zip(keys, requests, strict=True):
            waiting, account = _Waiting(key, request, on_decided), by_key[key]
            if isinstance(account, Exception):
                refused.append((waiting, account))
            elif account or not self._accounts.is_stranger(key):
                known.append(waiting)
            elif len(strangers) < room:
                strangers.append(waiting)
            else:
                refused.append((waiting, _BUSY))
        _decided(refused)
        self._strangers.ask(strangers)
        self._known.ask(known)

    def _read(self, read: list[tuple[_Waiting[_Request], Admission | Exception]]) -> None:
        """Refuse strangers; pass the others on."""
        _decided([(one, result) for one, result in read if isinstance(result, Exception)])
        self._known.ask([one for one, result in read if isinstance(result, Admission)])


class _Lane(Generic[_Request, _Outcome]):
    """Asks the store about keys on a thread; those that come meanwhile are asked together."""

    def __init__(
        self,
        ask: Callable[[Sequence[object]], Sequence[_Outcome]],
        then: Callable[[list[tuple[_Waiting[_Request], _Outcome | Exception]]], None],
    ) -> None:
        self._ask, self._then = ask, then
        self._thread = ThreadPoolExecutor(1, "geolookup-store")
        self._task: Task[None] | None = None
        self.queue: list[_Waiting[_Request]] = []

    def ask(self, waiting: Sequence[_Waiting[_Request]]) -> None:
        """Ask about requests, and call ``then`` with the outcomes, on the running loop."""
        self.queue += waiting
        if self.queue and (self._task is None or self._task.done()):
            self._task = get_running_loop().create_task(self._run())

    async def _run(self) -> None:
        in_thread = get_running_loop().run_in_executor
        while self.queue:
            some, self.queue = self.queue[:TOGETHER], self.queue[TOGETHER:]
            keys = [one.key for one in some]
            outcomes = await in_thread(self._thread, _outcomes, self._ask, keys)
            self._then(list(zip(some, outcomes, strict=True)))


def _outcomes(
    ask: Callable[[Sequence[object]], Sequence[_Outcome]], keys: Sequence[object]
) -> Sequence[_Outcome | Exception]:
    try:
        return ask(keys)
    except Exception as error:  # noqa: BLE001 - after any error, no request may wait forever
        return [error] * len(keys)


def _decided(outcomes: Sequence[tuple[_Waiting[_Request], Exception | None]]) -> None:
    """Call the ``on_decided`` of requests, once for all that share it."""
    shared: dict[OnDecided[_Request], tuple[list[_Request], list[Exception | None]]] = {}
    for (_, request, on_decided), outcome in outcomes:
        requests, results = shared.setdefault(on_decided, ([], []))
        requests.append(request)
        results.append(outcome)
    for on_decided, (requests, results) in shared.items():
        on_decided(requests, results)
