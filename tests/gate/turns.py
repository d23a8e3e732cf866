"""Requests that come together in one turn of an event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

from geolookup.gate.group_commit import GroupCommit


class KeyOnly(NamedTuple):
    """A request with nothing but its key."""

    api_key: object


async def decisions(gate: GroupCommit[KeyOnly], keys: Sequence[object]) -> list[Exception | None]:
    """Return the outcome of each request, when all are decided."""
    requests = [KeyOnly(key) for key in keys]
    outcomes: dict[int, Exception | None] = {}
    ended = asyncio.get_running_loop().create_future()

    def decided(some: Sequence[KeyOnly], results: Sequence[Exception | None]) -> None:
        for request, result in zip(some, results, strict=True):
            assert outcomes.setdefault(id(request), result) is result
        if len(outcomes) == len(requests):
            ended.set_result(None)

    gate.admit(requests, decided)
    await ended
    return [outcomes[id(request)] for request in requests]


def together(gate: GroupCommit[KeyOnly], keys: Sequence[object]) -> list[type[Exception] | None]:
    """Return the kinds of the outcomes of requests that come together."""
    results = asyncio.run(decisions(gate, keys)) if keys else []
    return [None if result is None else type(result) for result in results]
