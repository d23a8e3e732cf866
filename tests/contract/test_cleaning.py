"""``clean=True``: decorated addresses, and texts that look like one and must stay malformed."""

from __future__ import annotations

import re

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import geolookup
from geolookup.errors import InvalidAddressError
from geolookup.integrations.redaction import REMOVED, Redaction
from tests.address_texts import CLEANED, MALFORMED, NO_NODES, NODES
from tests.hostile import HostileText
from tests.internals.contract import (
    LONGEST,
    TrustedProxies,
    address_of,
    canonical,
    clean_text,
    forwarded,
    node_address,
    parse,
    x_forwarded_for,
)
from tests.internals.kernel import kernel
from tests.kernel.test_scan import texts as scanned
from tests.strategies import ipv4_values, ipv6_values, texts


def test_what_is_cleaned_and_what_stays_malformed() -> None:
    assert {text: clean_text(text) for text in CLEANED} == CLEANED
    assert [clean_text(text) for text in MALFORMED] == MALFORMED
    assert clean_text('"8.8.8.88') == '"8.8.8.88'
    # RFC 9110, section 5.6.1: empty elements are ignored.
    assert list(forwarded(", for=8.8.8.8, ,\t,for=1.1.1.1,")) == ["1.1.1.1", "8.8.8.8"]
    assert clean_text('"",8.8.8.8') == "8.8.8.8"
    longest = "unknown," * 1023 + "10.0.0.1"
    assert len(longest) == 8192
    assert (clean_text(longest), clean_text(longest + "1")) == ("10.0.0.1", longest + "1")


@pytest.mark.parametrize("node", [*NODES, *NO_NODES])
def test_all_who_read_a_node_agree(node: str) -> None:
    address = NODES.get(node)
    assert node_address(node) == address
    assert clean_text(node) == (address or node)
    assert (next(x_forwarded_for(node)) or None) == address
    assert (next(forwarded(f'for="{node}"')) or None) == address
    headers = {b"x-forwarded-for": node, b"forwarded": f'by=_p;for="{node}"'}
    client = canonical(*address_of(address) or (4, 10 << 24))
    for name, value in headers.items():
        lines = [(name, value.encode("latin-1", "replace"))]
        assert TrustedProxies(["10.0.0.0/32"]).caller("10.0.0.0", lines) == client
    if address is not None:
        assert Redaction(node).text(f"from {address}") == f"from {REMOVED}"
        assert scanned(kernel, node.encode()) == [address.encode()]


def test_other_values_are_returned_as_they_are() -> None:
    for value in (None, 8, b"8.8.8.8 ", HostileText("nonsense")):
        assert clean_text(value) is value


addresses = ipv4_values.map(lambda value: canonical(4, value)) | ipv6_values.map(
    lambda value: canonical(6, value)
)
blanks = st.text(" \t\r\n", max_size=3)
ports = st.none() | st.integers(0, 65535)
zones = st.none() | st.from_regex(r"[0-9a-z.]{1,8}", fullmatch=True)


@given(addresses, blanks, blanks, ports, zones, st.booleans())
def test_a_decorated_address_is_the_address(
    address: str, before: str, after: str, port: int | None, zone: str | None, brackets: bool
) -> None:
    is_ipv6 = ":" in address
    node = f"{address}%{zone}" if zone and is_ipv6 else address
    if brackets or (is_ipv6 and port is not None):
        node = f"[{node}]"
    if port is not None:
        node += f":{port}"
    assert clean_text(f"{before}{node}{after}") == address
    assert clean_text(f'{before}"{node}"{after}') == address
    assert clean_text(f"unknown,{node}{after}") == address


decorated = st.lists(
    st.sampled_from([*'[]%",:;= -\n', ":80", "for=", "unknown", "%eth0"]) | addresses | texts,
    max_size=6,
).map("".join)


@given(decorated | texts)
def test_no_other_address_is_made_of_a_text(text: str) -> None:
    result = clean_text(text)
    try:
        parse(text)
    except InvalidAddressError:
        pass
    else:
        assert result == text  # an address is not rewritten
    if result != text and not text.strip().isdecimal():
        text = re.sub(r"[\[(]([.:])[\])]", r"\1", text)
        parse(result)
        # The text has the whole address, at most with a port after it.
        whole = rf"(?<![0-9A-Za-z:.%]){re.escape(str(result))}(?![0-9A-Za-z.]|:[^0-9_])"
        assert re.search(whole, text)
        assert clean_text(result) == result


@pytest.mark.parametrize(
    "part", [*'[]%",:;= .f8', "8.8.8.8,", "for=", "for=;", ";for=a", ';"', "%a", ":8", "[::", "8."]
)
def test_long_texts_take_linear_time_and_stay_malformed(part: str) -> None:
    text = part * (LONGEST * 50 // len(part))
    assert clean_text(text) is text
    short = (part * LONGEST)[: LONGEST - 2] + "\0x"
    assert clean_text(short) is short


def test_every_call_takes_it(sample: geolookup.Engine) -> None:
    dirty, plain, at = [" [8.8.8.8]:53 ", "nonsense"], ["8.8.8.8", "nonsense"], 0
    assert not sample.lookup(dirty[0])["success"]
    for call in (sample.lookup, sample.lookup_json):
        assert call(dirty[0], at=at, clean=True) == call(plain[0], at=at)
    assert sample.get(dirty[0], "network.asn", clean=True) == sample.get(plain[0], "network.asn")
    assert sample.answer(dirty[0], clean=True).prefix == sample.answer(plain[0]).prefix
    for many in (sample.lookup_many, sample.lookup_many_json, sample.json_lines):
        assert list(many(dirty, at=at, clean=True)) == list(many(plain, at=at))
    paths = ["network.asn", "ip"]
    assert sample.get_many(dirty, paths, clean=True) == sample.get_many(plain, paths)
    assert geolookup.lookup(dirty[0], at=at, clean=True) == geolookup.lookup(plain[0], at=at)


_INPUTS = [*CLEANED, *MALFORMED, None, "8.8.8.8", "8.8.8.8 " * 3000, " " * 9000 + "8.8.8.8"]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view(), "dictionary"])
@example([None, *_INPUTS])
@given(st.lists(decorated, max_size=40))
def test_columns_are_cleaned_as_single_texts_are(
    sample: geolookup.Engine, kind: object, drawn: list[str | None]
) -> None:
    inputs = [text and text.encode("utf-8", "replace").decode() for text in drawn]
    column = pa.array(inputs, pa.string())
    column = column.dictionary_encode() if kind == "dictionary" else column.cast(kind)
    fields = ["ip", "ip_type", "network.asn", "error_code"]
    made = sample.enrich(pa.table({"ip": column}).slice(1), fields, prefix="x_", clean=True)
    assert made["ip"].to_pylist() == inputs[1:]
    answers = sample.lookup_many([clean_text(text) for text in inputs[1:]])
    assert made["x_error_code"].to_pylist() == [answer["error_code"] for answer in answers]
    expected = sample.enrich(pa.array(list(map(clean_text, inputs[1:])), pa.string()), fields)
    for name in expected.schema.names:
        assert made[f"x_{name}"].to_pylist() == expected[name].to_pylist()
