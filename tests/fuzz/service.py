"""What a service is given: query strings, forwarding headers, plans.

Queries are read as ``urllib`` reads forms. In headers the address that a trusted proxy adds
counts, whatever is in front of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import parse_qsl

from geolookup.contract.address import canonical, parse
from geolookup.contract.cleaning import forwarded, x_forwarded_for
from geolookup.contract.proxies import TrustedProxies
from geolookup.errors import PlansError
from geolookup.gate.plans import MAX_QUOTA, MAX_RATE, read_plans
from geolookup.http.application import ip_parameter
from tests.address_texts import INVALID, VALID_IPV4, VALID_IPV6
from tests.contract.test_proxies import LIES, TOLD, F, X, as_sent
from tests.fuzz.target import Target, accepted, scratch

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
    arguments = [value for name, value in parse_qsl(query, keep_blank_values=True) if name == "ip"]
    expected = None if not arguments else arguments[0] if len(arguments) == 1 else ""
    # A value that is too long for an address need not be decoded.
    assert ip_parameter(query) in {expected, "" if len(query) > 135 else expected}


def _headers() -> Iterator[bytes]:
    for lines, _ in TOLD + LIES:
        yield "\n".join(value for _, value in lines).encode("latin-1")


def _forward(data: bytes) -> None:
    lines = data.decode("latin-1").split("\n")
    for name in (F, X):
        _check(name, lines)
    both = [(F, line) for line in lines] + [(X, line) for line in lines]
    assert _is_address(_proxies.caller(_PROXY, as_sent(both)))
    for line in lines:
        assert len(list(x_forwarded_for(line))) == line.count(",") + 1
        assert list(forwarded(line))


def _check(name: str, lines: list[str]) -> None:
    inputs = [(name, line) for line in lines]
    assert _nobody.caller(_PROXY, as_sent(inputs)) == _PROXY
    assert _is_address(_proxies.caller(_PROXY, as_sent(inputs)))
    true = _TRUE if name == X else f"for={_TRUE}"
    # Others' words hide nothing, in a line of their own or in front of it.
    assert _proxies.caller(_PROXY, as_sent([*inputs, (name, true)])) == _TRUE
    appended = [*inputs[:-1], (name, f"{lines[-1]}, {true}")]
    assert _proxies.caller(_PROXY, as_sent(appended)) == _TRUE


def _is_address(text: str) -> bool:
    return canonical(*parse(text)) == text


_PLANS = (
    b"[plan.team]\nrate = 50\nquota = 100000\n",
    b"[plan.free]\nrate = 1\n[plan.big]\nrate = 1000000\nquota = 9007199254740991\n",
    b"",
    b"[plan.x]\nrate = 0\n",
    b"plan = 1\n",
)


def _read_plans(data: bytes) -> None:
    """Every plan is within its bounds, or the error names the file in one line."""
    path = scratch() / "plans.toml"
    path.write_bytes(data)
    known = accepted(lambda: read_plans(path), PlansError, path)
    if known is None:
        return
    assert {"free", "paid"} <= set(known)
    for name, plan in known.items():
        assert plan.name == name
        assert type(plan.rate) is int
        assert 1 <= plan.rate <= MAX_RATE
        assert plan.quota is None or (type(plan.quota) is int and 1 <= plan.quota <= MAX_QUOTA)


TARGETS = {
    "query": Target(_ask, _queries),
    "forwarded": Target(_forward, _headers),
    "plans": Target(_read_plans, lambda: _PLANS),
}
