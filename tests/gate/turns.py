"""Requests that come together in one turn of an event loop."""

from __future__ import annotations

import asyncio
from asyncio import Future
from collections.abc import Sequence

from tests.internals.gate import Accounts, GroupCommit

#: The outcome of each request, once it is decided.
Gate = GroupCommit[Future[Exception | None]]


def gate_of(accounts: Accounts) -> Gate:
    """Return a gate that sets the outcomes of requests; a second one is an error."""

    def decided(
        requests: Sequence[Future[Exception | None]], outcomes: Sequence[Exception | None]
    ) -> None:
        for request, outcome in zip(requests, outcomes, strict=True):
            request.set_result(outcome)

    return GroupCommit(accounts, decided)


async def decisions(gate: Gate, keys: Sequence[object]) -> list[Exception | None]:
    """Return the outcome of each request, when all are decided."""
    requests: list[Future[Exception | None]] = [Future() for _ in keys]
    gate.admit(keys, requests)
    return [await request for request in requests]


def together(gate: Gate, keys: Sequence[object]) -> list[type[Exception] | None]:
    """Return the kinds of the outcomes of requests that come together."""
    results = asyncio.run(decisions(gate, keys)) if keys else []
    return [None if result is None else type(result) for result in results]
