"""Group commit for an event loop: the requests of one iteration share one transaction.

Strategy: a transaction or a round trip costs several times as much as a decision. The
requests of one iteration of the loop are decided together in the next one, by the first of them
that continues. Under light load an iteration is short, so the wait is too.

A remote store may be silent, so one thread asks it, and the loop goes on. Requests that come
meanwhile are decided together when the thread is free. What the worker knows by itself, cached
keys and refusals and leased tokens, needs no thread.
"""

from __future__ import annotations

from asyncio import Future, Task, get_running_loop
from collections.abc import Awaitable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import coroutine

from geolookup.errors import AccountsError, ContractError
from geolookup.gate.account_store import ADMITTED
from geolookup.gate.accounts import Accounts
from geolookup.gate.admission import Exact, Leased

#: A request that the store must decide: the admission, or the key if the store must find it too.
_Asked = Exact | Leased | object


class GroupCommit:
    """Admissions for the coroutines of one event loop."""

    def __init__(self, accounts: Accounts) -> None:
        self._accounts, self._now = accounts, accounts.clock
        self._group = _Group()
        self._thread = _StoreThread(accounts) if accounts.remote else None

    def admit(self, api_key: object) -> Awaitable[None] | None:
        """Admit one request and count it, or return an awaitable that does.

        Never waits for another machine. Await what it returns at once.

        The call or the awaitable raises what ``Accounts.admit`` raises.
        """
        now = self._now()
        admission = self._accounts.known(api_key, now)
        if admission is not None and admission.try_local(now):
            return None
        if self._thread is not None:
            return self._thread.ask(admission or api_key)
        if type(admission) is Leased:
            admission.admit()  # the requests that come next use the lease, without a wait
            return None
        return self._together(admission or api_key)

    @coroutine
    def _together(self, asked: _Asked) -> Generator[None, None, None]:
        """Wait for the next iteration of the loop, then for the decision of all."""
        if self._group.outcomes is not None:
            self._group = _Group()
        group = self._group
        place = len(group.asked)
        group.asked.append(asked)
        try:
            yield  # to the loop: cheaper than a future, which calls back
        finally:  # also if the client has disconnected: other requests wait for the decision
            outcomes = group.outcomes
            if outcomes is None:
                outcomes = group.outcomes = _decided(self._accounts, group.asked)
        outcome = outcomes[place]
        if outcome is not None:
            raise outcome


class _Group:
    """Requests that are decided together, in the thread of the loop.

    ``outcomes`` is None until then.
    """

    __slots__ = ("asked", "outcomes")

    def __init__(self) -> None:
        self.asked: list[_Asked] = []
        self.outcomes: Sequence[Exception | None] | None = None


class _StoreThread:
    """Decides requests on a thread; those that come while it is busy are decided together."""

    def __init__(self, accounts: Accounts) -> None:
        self._accounts = accounts
        self._thread = ThreadPoolExecutor(1, "geolookup-store")
        self._asked: list[tuple[_Asked, Future[None]]] = []
        self._task: Task[None] | None = None

    def ask(self, asked: _Asked) -> Future[None]:
        """Return a future with the decision."""
        if self._task is None or self._task.done():
            self._task = get_running_loop().create_task(self._decide())
        waiting: Future[None] = self._task.get_loop().create_future()
        self._asked.append((asked, waiting))
        return waiting

    async def _decide(self) -> None:
        """Decide what was asked, and what is asked meanwhile."""
        decide = get_running_loop().run_in_executor
        while self._asked:
            pairs, self._asked = self._asked, []
            asked = [each for each, _ in pairs]
            outcomes = await decide(self._thread, _decided, self._accounts, asked)
            for (_, waiting), outcome in zip(pairs, outcomes, strict=True):
                _resolve(waiting, outcome)


def _decided(accounts: Accounts, asked: Sequence[_Asked]) -> Sequence[Exception | None]:
    """Decide requests; return for each what it raises, or None."""
    try:
        return _outcomes(accounts, asked)
    except Exception as error:  # noqa: BLE001 - after any error, no coroutine may wait forever
        return [error] * len(asked)


def _outcomes(accounts: Accounts, asked: Sequence[_Asked]) -> Sequence[Exception | None]:
    outcomes: list[Exception | None] = [None] * len(asked)
    exact: list[tuple[int, Exact]] = []
    for place, each in enumerate(asked):
        if type(each) is Exact:  # it has no cached refusal: ``try_local`` raised none
            exact.append((place, each))
            continue
        try:
            found = (each if type(each) is Leased else accounts.admission(each)).ask()
        except (ContractError, AccountsError) as error:
            outcomes[place] = error
        else:
            if found is not None:
                exact.append((place, found))
    if exact:
        _decide_exact(accounts, exact, outcomes)
    return outcomes


def _decide_exact(
    accounts: Accounts, exact: Sequence[tuple[int, Exact]], outcomes: list[Exception | None]
) -> None:
    try:
        found = accounts.decide([admission.request for _, admission in exact])
    except AccountsError as error:
        for place, _ in exact:
            outcomes[place] = error
        return
    if not any(found):  # all are ADMITTED, which is 0
        return
    for (place, admission), free in zip(exact, found, strict=True):
        if free == ADMITTED:
            continue
        try:
            admission.settle(free)
        except (ContractError, AccountsError) as error:
            outcomes[place] = error


def _resolve(waiting: Future[None], error: Exception | None) -> None:
    if waiting.done():  # its client disconnected
        return
    if error is None:
        waiting.set_result(None)
    else:
        waiting.set_exception(error)
