"""Group commit for an event loop: the requests of one iteration share one transaction.

Strategy: a transaction or a round trip costs several times as much as a decision. The
requests of one iteration of the loop wait for its end and are decided together. Under
light load an iteration is short, so the wait is too.

A remote store may be silent, so one thread asks it, and the loop goes on. Requests that come
meanwhile are decided together when the thread is free. What the worker knows by itself, cached
keys and refusals and leased tokens, needs no thread.
"""

from __future__ import annotations

from asyncio import Future, Task, get_running_loop
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from geolookup.errors import AccountsError, ContractError
from geolookup.gate.account_store import ADMITTED
from geolookup.gate.accounts import Accounts
from geolookup.gate.admission import Exact, Leased

#: A request that the store must decide: key, admission (None if the store must find the key
#: too), and the future that waits. A plain tuple, because each request creates one.
_Asked = tuple[object, Exact | Leased | None, Future[None]]


class GroupCommit:
    """Admissions for the coroutines of one event loop."""

    def __init__(self, accounts: Accounts) -> None:
        self._accounts = accounts
        self._thread = ThreadPoolExecutor(1, "geolookup-store") if accounts.remote else None
        self._asked: list[_Asked] = []
        self._task: Task[None] | None = None

    def admit(self, api_key: object) -> Future[None] | None:
        """Admit one request and count it, or return a future that does.

        Never waits for another machine.

        The call or the future raises what ``Accounts.admit`` raises.
        """
        admission = self._accounts.known(api_key)
        if admission is not None and admission.try_local():
            return None
        if self._thread is None and type(admission) is Leased:
            admission.admit()  # the lease serves all who come next: they need no future
            return None
        if self._task is None or self._task.done():
            self._task = get_running_loop().create_task(self._decide())
        waiting: Future[None] = self._task.get_loop().create_future()
        self._asked.append((api_key, admission, waiting))
        return waiting

    async def _decide(self) -> None:
        """Decide what was asked, and what is asked meanwhile."""
        while self._asked:
            asked, self._asked = self._asked, []
            try:
                outcomes = await self._outcomes(asked)
            except Exception as error:  # noqa: BLE001 - whatever it is, no coroutine may wait forever
                outcomes = [error] * len(asked)
            for (_, _, waiting), outcome in zip(asked, outcomes, strict=True):
                _resolve(waiting, outcome)

    async def _outcomes(self, asked: Sequence[_Asked]) -> Sequence[Exception | None]:
        if self._thread is None:
            return _decided(self._accounts, asked)
        return await get_running_loop().run_in_executor(
            self._thread, _decided, self._accounts, asked
        )


def _decided(accounts: Accounts, asked: Sequence[_Asked]) -> list[Exception | None]:
    """Decide requests; return for each what it raises, or None."""
    outcomes: list[Exception | None] = [None] * len(asked)
    exact: list[tuple[int, Exact]] = []
    for place, (api_key, admission, _) in enumerate(asked):
        if type(admission) is Exact:  # has no cached refusal, or nobody would ask
            exact.append((place, admission))
            continue
        try:
            found = (admission or accounts.admission(api_key)).ask()
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
