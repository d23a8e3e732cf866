"""Query strings, read as ``urllib`` reads forms; Forwarded and X-Forwarded-For, where the word of
a trusted proxy stands, whatever is in front of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from unittest import mock
from urllib.parse import parse_qsl, unquote

from geolookup import proxies
from geolookup.contract.address import canonical, parse
from geolookup.http.application import address_asked
from geolookup.proxies import Address, TrustedProxies, forwarded, x_forwarded_for
from tests.address_texts import INVALID, VALID_IPV4, VALID_IPV6
from tests.fuzz.target import Target
from tests.test_proxies import LIES, TOLD, F, X, as_sent

_FORMS = (
    *("", "ip", "ip=", "ip=8.8.8.8", "ip=%3A%3A1", "%69p=8.8.8.8", "i%70=1&ip=2", "ip=8.8.8.8&x=1"),
    *("a=1&&ip=1.1.1.1", "ip=1.1.1.1;b", "ip=8.8.8.8+", "ip=%ff", "ip=%", "ip=%2", "IP=8.8.8.8"),
    *("ip==", "=ip", "&", "ip[]=1", "ip=%00", "ip=a%26ip=b"),
)
_PROXY = "127.0.0.1"
#: What the trusted proxy saw: no mutation of a seed comes near it.
_TRUE = "198.41.0.4"
_proxies = TrustedProxies(["127.0.0.0/8"])
_nobody = TrustedProxies([])


def _queries() -> Iterator[bytes]:
    for form in _FORMS:
        yield form.encode()
    for text in (*VALID_IPV4[:3], *list(VALID_IPV6)[:20], *(t for t in INVALID if len(t) < 40)):
        yield b"ip=" + text.encode("utf-8", "surrogatepass")


def _ask(data: bytes) -> None:
    query = data.decode("latin-1")  # as a server hands it on
    given = [value for name, value in parse_qsl(query, keep_blank_values=True) if name == "ip"]
    expected = None if not given else given[0] if len(given) == 1 else ""
    assert address_asked(query) == expected


def _headers() -> Iterator[bytes]:
    for lines, _ in TOLD + LIES:
        yield "\n".join(value for _, value in lines).encode("latin-1")


def _forward(data: bytes) -> None:
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


def _cut_before_malformed() -> AbstractContextManager[object]:
    """Take what stands before a malformed element of a line, as if the line ended there."""
    whole = proxies._elements

    def elements(line: str) -> list[Address | None]:
        parts = line.split(",")
        ends = range(len(parts), 0, -1)
        return next(
            (found for end in ends if (found := whole(",".join(parts[:end]))) != [None]), []
        )

    return mock.patch.object(proxies, "_elements", elements)


TARGETS = {
    # ``+`` is no blank any more.
    "query": Target(
        _ask, _queries, lambda: mock.patch("geolookup.http.application.unquote_plus", unquote)
    ),
    "forwarded": Target(_forward, _headers, _cut_before_malformed),
}
