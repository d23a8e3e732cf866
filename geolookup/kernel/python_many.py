"""Answers for many addresses in the Python kernel, one after another.

``protocol`` documents the calls.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat
from typing import TYPE_CHECKING, Any

from geolookup.contract import envelope, fields
from geolookup.errors import ContractError
from geolookup.kernel.python import _answer, _answer_json
from geolookup.kernel.python_rows import value_of
from geolookup.kernel.python_state import State, find

if TYPE_CHECKING:
    from geolookup.contract.types import Envelope

Addresses = list[object]
Seconds = int | list[int]
_FAILURES = frozenset(envelope.FAILURES_JSON.values())


def envelopes(state: State, ips: Addresses, seconds: Seconds) -> list[Envelope]:
    """See ``protocol.State``."""
    return [_answer(state, *each) for each in _paired(ips, seconds)]


def envelopes_json(state: State, ips: Addresses, seconds: Seconds) -> list[bytes]:
    """See ``protocol.State``."""
    return [_answer_json(state, *each) for each in _paired(ips, seconds)]


def values(
    state: State, ips: Addresses, paths: tuple[str, ...], seconds: Seconds
) -> list[tuple[Any, ...]]:
    """See ``protocol.State``."""
    for path in paths:
        if not isinstance(path, str) or path not in fields.PATHS:
            from geolookup.contract.paths import unknown_path

            raise unknown_path(path)
    return [_values(state, ip, paths, second) for ip, second in _paired(ips, seconds)]


def _values(state: State, ip: object, paths: tuple[str, ...], second: int) -> tuple[Any, ...]:
    try:
        found = find(state, ip)
    except ContractError:
        return (None,) * len(paths)
    return tuple([value_of(state, found, path, second) for path in paths])


def _paired(ips: Addresses, seconds: Seconds) -> Iterator[tuple[object, int]]:
    if not isinstance(seconds, list):
        return zip(ips, repeat(seconds), strict=False)
    if len(seconds) != len(ips):
        raise ValueError("the columns differ in length")
    return zip(ips, seconds, strict=True)


class Lines:
    """See ``protocol.Lines``."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._lines: list[bytes] = []

    def add(self, ips: Addresses, seconds: Seconds) -> int:
        """See ``protocol.Lines``."""
        failures = 0
        for ip, second in _paired(ips, seconds):
            self._lines.append(_answer_json(self._state, ip, second))
            failures += self._lines[-1] in _FAILURES
        return failures

    def add_text(self, text: bytes, second: int) -> int:
        """See ``protocol.Lines``."""
        texts = [line.decode("utf-8", "surrogateescape").strip() for line in text.split(b"\n")]
        return self.add([text for text in texts if text], second)

    def take(self) -> bytes:
        """See ``protocol.Lines``."""
        lines = b"".join([line + b"\n" for line in self._lines])
        self._lines.clear()
        return lines
