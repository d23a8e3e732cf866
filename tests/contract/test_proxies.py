"""The client of a request: trusted proxies are believed, and nobody else."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geolookup.errors import SettingsError
from tests.internals.contract import (
    MOST_HOPS,
    TrustedProxies,
    address_of,
    forwarded,
    is_address,
    x_forwarded_for,
)

X, F = "X-Forwarded-For", "Forwarded"
#: The tests' machine is 127.0.0.1; 127.0.0.0/8 is trusted. a liar claims to be 8.8.8.8.
TRUE = "1.1.1.1"
LIE = "8.8.8.8"


def as_sent(lines: Iterable[tuple[str, str]]) -> list[tuple[bytes, bytes]]:
    """Header lines as the server passes them."""
    return [(name.lower().encode(), value.encode("utf-8", "replace")) for name, value in lines]


Lines = list[tuple[str, str]]
Case = tuple[Lines, str | None]
_IPV6 = "2606:4700:4700::1111"
#: The lines of a trusted proxy, and the client that they give.
TOLD: list[Case] = [
    *(([(X, TRUE + more)], TRUE) for more in ("", ":51000", ", 127.0.0.2,127.0.0.3", ":_port")),
    *(([(X, text)], TRUE) for text in (f"[{TRUE}]", f'"{TRUE}"', f"127.0.0.2, [{TRUE}]:1")),
    *(([(X, text)], _IPV6) for text in (_IPV6, f"[{_IPV6}]", f"[{_IPV6}]:443")),
    ([(X, f"::ffff:{TRUE}")], TRUE),
    ([(X, TRUE), (X, "127.0.0.2")], TRUE),
    ([(F, f"for={TRUE}")], TRUE),
    ([(F, f'For="{TRUE}:80";proto=https;by=_proxy')], TRUE),
    *(([(F, f"for={text}")], _IPV6) for text in (f'"[{_IPV6}]:443"', f"[{_IPV6}]:443")),
    *(([(F, f"for={text}")], TRUE) for text in (f"{TRUE}:80", f'"[{TRUE}]"')),
    ([(F, f'proto=http ; for="{TRUE}" , for=127.0.0.2')], TRUE),
    ([(F, f"for={TRUE}"), (F, "for=127.0.0.9;host=x")], TRUE),
    ([(F, f'for={TRUE};host="a,b;for=\\"9.9.9.9\\""')], TRUE),
    ([(F, f"for={TRUE}"), (X, TRUE)], TRUE),
    ([(F, f";for={TRUE} ; ;")], TRUE),
    ([(F, f"for={TRUE}, ,for=127.0.0.2,")], TRUE),  # RFC 9110, section 5.6.1
    ([(F, f'for={TRUE};host="a\\\\", for=127.0.0.2;host="\\\\\\","')], TRUE),
    ([(F, f'for={TRUE};x="{"," * 14}"')], TRUE),
    ([(F, f"for={TRUE};x={'y' * 490}")], TRUE),
    ([(X, f"{TRUE}{', 127.0.0.2' * 31}")], TRUE),
    ([(F, f"for={TRUE}{', for=127.0.0.2;by=_p' * 31}")], TRUE),
]
#: The liar's words stand to the left, or are garbage; the proxy adds its own to the right.
_BELIEVED: list[Lines] = [
    *([(X, f"{left}, {TRUE}")] for left in (LIE, f"127.0.0.1, {LIE}", "\xff")),
    *([(X, left), (X, TRUE)] for left in (LIE, "\xff")),
    [(X, f"{LIE}, {TRUE}, 127.0.0.5")],
    [("X_Forwarded_For", LIE), (X, TRUE)],
    [(X, TRUE), ("X_Forwarded_For", LIE)],
    [(F, f"for={LIE}, for={TRUE}")],
    [(F, f"for={LIE}"), (F, f"for={TRUE}")],
    # Quotes that the liar opens hide nothing of the proxy's.
    [(F, f'for={LIE};x="a, for={TRUE}')],
    [(F, f'for={LIE};x="a, for="{TRUE}"')],
    [(F, f'for="{LIE}, for={TRUE};host="a,b;for=\\"{LIE}\\""')],
    [(F, f'{"," * 9_000}", for={TRUE}')],
]
_X_OF_NOBODY = (
    *(f"{LIE}, 10.0.0.1", f"{LIE}, unknown", f"{LIE},", f"{LIE}, ", f"{LIE}, , 127.0.0.2"),
    *(f"{LIE}, 999.1.1.1", f"{LIE}, 1.1.1.1/8", f"{LIE} {TRUE}", f"{LIE};{TRUE}"),
    *("", "8.8.8.8:", "8.8.8.8:port", "134744072", "0x8.8.8.8", f"{TRUE}\xff"),
    *(f"{LIE}:99999", f"{LIE}%1", f"[{LIE}", f'"{LIE}'),
    f"{LIE}{', 127.0.0.2' * 32}",
)
_F_OF_NOBODY = (
    *(f"for={LIE}, for=unknown", f"for={LIE}, for=_hidden", f"for={LIE}, proto=https"),
    *(f"for={LIE};for={TRUE}", f"for={LIE}, for={TRUE}:99999", f"for={LIE}, for=[::1"),
    *(f'for="{LIE}', f'for={LIE};x="a, for="{TRUE}', f"for={LIE}, {';' * 512}for={TRUE}"),
    *(f'for={LIE}, for={TRUE};x="{"," * 500}"', f"for={LIE}, for={TRUE};x={'y' * 512}"),
    f"for={LIE}{', for=127.0.0.2' * 32}",
    *(f'for={LIE}, for="[{TRUE}"', LIE, f"for = {LIE}"),
)
LIES: list[Case] = [
    *((lines, TRUE) for lines in _BELIEVED),
    *(([(X, text)], None) for text in _X_OF_NOBODY),
    *(([(F, text)], None) for text in _F_OF_NOBODY),
    *(([(name, LIE)], None) for name in ("X_Forwarded_For", "X-Real-IP")),
    ([("Client-IP", LIE), ("True-Client-IP", LIE), ("CF-Connecting-IP", LIE)], None),
    ([(F, f"for={LIE}"), (X, TRUE)], None),
    ([(X, LIE), (F, f"for={TRUE}")], None),
    ([(F, "for=_x"), (X, LIE)], None),
]


def test_peers() -> None:
    for peer, caller in (
        ("1.2.3.4", "1.2.3.4"),
        ("::ffff:1.2.3.4", "1.2.3.4"),
        ("2001:db8::1", "2001:db8::1"),
        ("fe80::1%2", "fe80::1"),
        ("", ""),
    ):
        assert TrustedProxies([]).caller(peer, as_sent([(X, LIE)])) == caller
    assert TrustedProxies(["unix:"]).caller("x", as_sent([(X, LIE)])) == ""
    proxies = TrustedProxies(["10.0.0.0/8", "fd00::/8"])
    for peer in ("::ffff:10.1.2.3", "10.1.2.3", "fd00::1"):
        assert proxies.caller(peer, as_sent([(X, TRUE)])) == TRUE
    assert proxies.caller("11.0.0.1", as_sent([(X, LIE)])) == "11.0.0.1"
    inputs = [ipaddress.ip_network("10.0.0.0/8"), ipaddress.ip_address("fd00::1")]
    proxies = TrustedProxies(inputs)
    for peer in ("10.1.1.1", "fd00::1"):
        assert proxies.caller(peer, as_sent([(X, TRUE)])) == TRUE


def test_networks_that_are_none() -> None:
    for network in ("", "x", "10.0.0.1/8", "10.0.0.0/33", "10.0.0.0/8,::/0"):
        with pytest.raises(SettingsError, match=r"^trusted_proxies .* not a network; write"):
            TrustedProxies([network])
    for value in ("10.0.0.0/8", 5, None):
        with pytest.raises(SettingsError, match="is not a list"):
            TrustedProxies(value)  # type: ignore[arg-type]


def _not_mapped(ip: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    return ip.version == 4 or int(ip) >> 32 != 0xFFFF


ADDRESSES = st.ip_addresses().filter(_not_mapped)
HOPS = st.lists(ADDRESSES, max_size=6)


def _node(ip: ipaddress.IPv4Address | ipaddress.IPv6Address) -> str:
    return f'"[{ip}]:443"' if ip.version == 6 else str(ip)


@given(st.lists(ADDRESSES, min_size=1))
def test_what_is_well_formed_is_read(hops: list[ipaddress.IPv4Address]) -> None:
    wanted = [(hop.version, int(hop)) for hop in hops]
    for read, line in (
        (x_forwarded_for, ", ".join(map(str, hops))),
        (forwarded, ",".join(f"for={_node(hop)};proto=http" for hop in hops)),
    ):
        assert [address_of(hop) for hop in read(line)] == wanted[::-1]


@given(st.text(), HOPS, st.sampled_from([X, F]))
def test_the_proxys_own_word_counts(lie: str, hops: list[ipaddress.IPv4Address], name: str) -> None:
    """Lines of their own, as proxies add them: the last one says who the caller is."""
    proxies = TrustedProxies(["10.0.0.0/8"])
    lies = [(name, lie), *((name, _node(hop)) for hop in hops)]
    own = (name, TRUE if name == X else f"for={TRUE}")
    assert proxies.caller("10.0.0.1", as_sent([*lies, own])) == TRUE


def test_a_long_header_costs_what_a_short_one_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted in addresses that are parsed: the length of the header does not matter."""
    parsed = list[object]()

    def counted(text: str | None) -> object:
        parsed.append(text)
        return address_of(text)

    monkeypatch.setattr("geolookup.contract.proxies.address_of", counted)
    proxies = TrustedProxies(["127.0.0.0/8"])
    for hop, most in ((TRUE, 1), ("127.0.0.2", MOST_HOPS)):
        for line in ((X, ",".join([hop] * 1_500)), (F, ",".join([f"for={hop}"] * 1_500))):
            for lines in ([line], [line] * 9):
                parsed.clear()
                proxies.caller("127.0.0.1", as_sent(lines))
                assert len(parsed) == 1 + most  # and the peer


@pytest.mark.parametrize("before", ["", "for=127.0.0.2,"])
def test_an_element_is_short(before: str) -> None:
    """It has 512 characters with its comma: a header of only delimiters takes no longer."""
    element = f"for={TRUE}"
    for text in (element.ljust(511, ";"), f"{element};x=".ljust(511, "y")):
        assert next(forwarded(before + text)) == TRUE
        assert next(forwarded(before + text + text[-1])) is None
    commas = f'{element};x="{"," * 400}"'
    assert next(forwarded(before + commas)) == TRUE
    assert next(forwarded(f"{before}{commas};{commas[13:]}")) is None


@given(st.text(alphabet='for=;,"\\ 1.8[]:_'))
def test_garbage_raises_nothing(line: str) -> None:
    for read in (forwarded, x_forwarded_for):
        assert all(not hop or is_address(hop) for hop in read(line))


@given(HOPS)
def test_the_walk_ends_at_the_first_untrusted_hop(hops: list[ipaddress.IPv4Address]) -> None:
    trusted = [ipaddress.ip_network("128.0.0.0/1"), ipaddress.ip_network("8000::/1")]
    peer = ipaddress.ip_address("200.0.0.1")
    expected = peer
    for hop in reversed([*hops, peer]):
        expected = hop
        if not any(hop in network for network in trusted):
            break
    proxies = TrustedProxies(map(str, trusted))
    said = as_sent([(X, ",".join(map(str, hops)))] if hops else [])
    assert ipaddress.ip_address(proxies.caller(str(peer), said)) == expected


def test_a_trusted_peer_states_the_client() -> None:
    """If it states none, the client is the last hop that is known, here private; a peer without
    an address is one too.
    """
    proxies = TrustedProxies(["unix:", "127.0.0.0/8"])
    for lines, client in TOLD + LIES:
        for peer in ("127.0.0.1", ""):
            caller = proxies.caller(peer, as_sent(lines))
            if client is None:
                assert caller in {peer, "10.0.0.1", "127.0.0.2", "::1"}, lines
            else:
                assert caller == client, lines


def test_nobody_is_believed_without_trust() -> None:
    for lines, _ in TOLD + LIES:
        assert TrustedProxies(["0.0.0.0/0", "::/0"]).caller("", as_sent(lines)) == "", lines
        assert TrustedProxies([]).caller("127.0.0.1", as_sent(lines)) == "127.0.0.1", lines
        assert TrustedProxies(["10.0.0.0/8"]).caller("127.0.0.1", as_sent(lines)) == "127.0.0.1"
