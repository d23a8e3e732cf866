"""Forwarded and X-Forwarded-For: a trusted proxy's word stands, whatever is in front of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from unittest import mock

from geolookup import proxies
from geolookup.contract.address import canonical, parse
from geolookup.proxies import Address, TrustedProxies, forwarded, x_forwarded_for
from tests.fuzz.target import Target
from tests.test_proxies import LIES, TOLD, F, X, as_sent

_PROXY = "127.0.0.1"
#: What the trusted proxy saw: no mutation of a seed comes near it.
_TRUE = "198.41.0.4"
_proxies = TrustedProxies(["127.0.0.0/8"])
_nobody = TrustedProxies([])


def seeds() -> Iterator[bytes]:
    for lines, _ in TOLD + LIES:
        yield "\n".join(value for _, value in lines).encode("latin-1")


def run(data: bytes) -> None:
    lines = data.decode("latin-1").split("\n")
    for name in (F, X):
        _check(name, lines)
    both = [(F, line) for line in lines] + [(X, line) for line in lines]
    assert _is_address(_proxies.caller(_PROXY, as_sent(both)))
    assert len(x_forwarded_for(lines)) == sum(line.count(",") + 1 for line in lines)
    assert len(forwarded(lines)) >= len(lines)


def _check(name: str, lines: list[str]) -> None:
    given = [(name, line) for line in lines]
    assert _nobody.caller(_PROXY, as_sent(given)) == _PROXY
    assert _is_address(_proxies.caller(_PROXY, as_sent(given)))
    true = _TRUE if name == X else f"for={_TRUE}"
    # A line of its own hides nothing; behind others' words in one line it stands, or, where
    # those break the syntax of Forwarded, nobody's does.
    assert _proxies.caller(_PROXY, as_sent([*given, (name, true)])) == _TRUE
    appended = [*given[:-1], (name, f"{lines[-1]}, {true}")]
    assert _proxies.caller(_PROXY, as_sent(appended)) in {_TRUE, *([_PROXY] if name == F else [])}


def _is_address(text: str) -> bool:
    return canonical(*parse(text)) == text


def planted() -> AbstractContextManager[object]:
    """Take what stands before a malformed element of a line, as if the line ended there."""
    whole = proxies._elements

    def elements(line: str) -> list[Address | None]:
        parts = line.split(",")
        ends = range(len(parts), 0, -1)
        return next(
            (found for end in ends if (found := whole(",".join(parts[:end]))) != [None]), []
        )

    return mock.patch.object(proxies, "_elements", elements)


TARGET = Target(run, seeds, planted)
