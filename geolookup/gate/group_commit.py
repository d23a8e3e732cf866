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
from typing import Generic, TypeVar

from geolookup.errors import AccountsError
from geolookup.gate.accounts import Accounts
from geolookup.gate.admissions import Admission

_Request = TypeVar("_Request")
_Outcome = TypeVar("_Outcome")
#: Called with requests and the outcome of each: an exception if it is refused, else None.
OnDecided = Callable[[Sequence[_Request], Sequence[Exception | None]], None]
#: The most requests that one call of a remote store is about.
_TOGETHER = 512
#: The most requests of strangers that wait: a Redis 2 ms away answers them in a fraction of a
#: second.
MOST_STRANGERS = 8 * _TOGETHER
#: A key and its request, which wait for the store; and such requests with their outcomes.
_Waiting = tuple[object, _Request]
_Outcomes = Sequence[tuple[_Waiting[_Request], _Outcome]]
_BUSY = AccountsError("account store", "too many unknown keys are waiting", "try again later")


class GroupCommit(Generic[_Request]):
    """Admissions for the requests of one event loop; ``on_decided`` gets each request once."""

    def __init__(self, accounts: Accounts, on_decided: OnDecided[_Request]) -> None:
        self._accounts, self._on_decided = accounts, on_decided
        self._known = _Lane[_Request, Exception | None](accounts.admit_together, self._decided)
        self._strangers = _Lane[_Request, Admission | Exception](accounts.read, self._read)

    def admit(self, keys: Sequence[object], requests: Sequence[_Request]) -> None:
        """Decide and count requests that came together.

        ``keys`` has the text of the key of each request, None if it has none. The outcomes are the
        errors of ``Accounts.admit``. Never waits for another machine: ``on_decided`` can be
        called later, on the running loop.
        """
        if not self._accounts.remote:
            self._on_decided(requests, _outcomes(self._accounts.admit_together, keys))
            return
        now = self._accounts.now()
        by_key = {key: self._accounts.look_up(key, now) for key in set(keys)}
        refused: list[tuple[_Waiting[_Request], Exception]] = []
        known: list[_Waiting[_Request]] = []
        strangers: list[_Waiting[_Request]] = []
        room = MOST_STRANGERS - len(self._strangers.queue)
        for key, request in zip(keys, requests, strict=True):
            account = by_key[key]
            if isinstance(account, Exception):
                refused.append(((key, request), account))
            elif account or not self._accounts.is_stranger(key):
                known.append((key, request))
            elif len(strangers) < room:
                strangers.append((key, request))
            else:
                refused.append(((key, request), _BUSY))
        self._decided(refused)
        self._strangers.ask(strangers)
        self._known.ask(known)

    def _read(self, read: _Outcomes[_Request, Admission | Exception]) -> None:
        """Refuse strangers; pass the others on."""
        self._decided([(one, result) for one, result in read if isinstance(result, Exception)])
        self._known.ask([one for one, result in read if isinstance(result, Admission)])

    def _decided(self, outcomes: _Outcomes[_Request, Exception | None]) -> None:
        if outcomes:
            requests = [request for (_, request), _ in outcomes]
            self._on_decided(requests, [outcome for _, outcome in outcomes])


class _Lane(Generic[_Request, _Outcome]):
    """Asks the store about keys on a thread; those that come meanwhile are asked together."""

    def __init__(
        self,
        ask: Callable[[Sequence[object]], Sequence[_Outcome]],
        then: Callable[[_Outcomes[_Request, _Outcome | Exception]], None],
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
            some, self.queue = self.queue[:_TOGETHER], self.queue[_TOGETHER:]
            keys = [key for key, _ in some]
            outcomes = await in_thread(self._thread, _outcomes, self._ask, keys)
            self._then(list(zip(some, outcomes, strict=True)))


def _outcomes(
    ask: Callable[[Sequence[object]], Sequence[_Outcome]], keys: Sequence[object]
) -> Sequence[_Outcome | Exception]:
    try:
        return ask(keys)
    except Exception as error:  # noqa: BLE001 - after any error, no request may wait forever
        return [error] * len(keys)
