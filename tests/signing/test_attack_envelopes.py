"""What an attacker makes of signed documents: nothing is accepted that no trusted key signed."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable
from itertools import product
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from geolookup.errors import DatasetError
from tests.internals.dataset import canonical
from tests.internals.signing import (
    PrivateKey,
    open_envelope,
    read_statement,
    seal,
    serial_of,
    signed_statement,
)
from tests.signing.keys import private_keys
from tests.skips import needs

pytestmark = needs("cryptography")
KINDS = ("dataset", "mirror")
PAYLOADS = (b'{"serial":1}', b'{"serial":2}')
OWNERS = range(3)
#: What was ever signed: a kind, a payload and who signed them.
Signed = tuple[str, bytes, int]
EVERYTHING: list[Signed] = list(product(KINDS, PAYLOADS, OWNERS))


@pytest.fixture(scope="module")
def keys() -> list[PrivateKey]:
    return private_keys()


def attempt(text: bytes, kind: str, trusted: Iterable[PrivateKey]) -> bytes | None:
    try:
        return open_envelope(text, kind, [key.public for key in trusted], "index.json")
    except DatasetError as error:
        line = str(error)
    assert line.startswith("index.json: ")
    assert "\n" not in line
    return None


def test_the_signed_bytes(keys: list[PrivateKey]) -> None:
    """DSSE's pre-authentication encoding, version 1."""
    envelope = json.loads(seal("dataset", b"{}", keys[:1]))
    signature = base64.b64decode(envelope["signatures"][0]["sig"])
    message = b"DSSEv1 38 application/vnd.geolookup.dataset+json 2 {}"
    assert keys[0].public.verify(signature, message)


#: Signatures of an envelope: whose key id is stated (None: no id), and what was signed.
stolen_signatures = st.lists(
    st.tuples(st.none() | st.sampled_from(OWNERS), st.sampled_from(EVERYTHING)), max_size=18
)


@given(
    st.sampled_from(KINDS),
    st.sampled_from(PAYLOADS),
    stolen_signatures,
    st.sampled_from(KINDS),
    st.frozensets(st.sampled_from(OWNERS)),
)
@example("mirror", PAYLOADS[0], [(0, ("dataset", PAYLOADS[0], 0))], "mirror", frozenset({0}))
@example("mirror", PAYLOADS[0], [(0, ("mirror", PAYLOADS[0], 1))], "mirror", frozenset({0, 1}))
@example("mirror", PAYLOADS[0], [(0, ("mirror", PAYLOADS[0], 0))] * 17, "mirror", frozenset({0}))
def test_only_what_a_trusted_key_signed(
    keys: list[PrivateKey],
    stated_kind: str,
    payload: bytes,
    stolen: list[tuple[int | None, Signed]],
    kind: str,
    trusted: frozenset[int],
) -> None:
    document = json.loads(seal(stated_kind, payload, []))
    for keyid, (of_kind, of_payload, owner) in stolen:
        (signature,) = json.loads(seal(of_kind, of_payload, [keys[owner]]))["signatures"]
        stated = {} if keyid is None else {"keyid": keys[keyid].public.id}
        document["signatures"].append({"sig": signature["sig"], **stated})
    is_signed = any(
        signed == (kind, payload, signed[2]) and signed[2] in trusted and keyid in {None, signed[2]}
        for keyid, signed in stolen
    )
    expected = payload if is_signed and kind == stated_kind and len(stolen) <= 16 else None
    text = json.dumps(document).encode()
    assert attempt(text, kind, [keys[owner] for owner in trusted]) == expected


@given(st.data())
def test_an_envelope_with_any_byte_changed(keys: list[PrivateKey], data: st.DataObject) -> None:
    """White space and the names of unread members may change; the payload may not."""
    text = bytearray(seal("mirror", PAYLOADS[0], keys[:2]))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text) - 1))
        text[at : at + data.draw(st.integers(0, 2))] = data.draw(st.binary(max_size=2))
    for trusted in (keys[:1], keys[1:2]):
        result = attempt(bytes(text), "mirror", trusted)
        assert result in (None, PAYLOADS[0])


#: Values that JSON has and an envelope does not.
VALUES: tuple[Any, ...] = (
    *(None, True, 0, -1, 1e400, 1 << 70, "", "\ud800", "\0", "====", "é", [], {}, [[]], [{}]),
    *([None], [{"sig": 1}], [{"keyid": "x", "sig": ""}], [{"keyid": 0, "sig": ""}], "A" * 99),
)


def test_members_of_another_kind(keys: list[PrivateKey]) -> None:
    trusted = keys[:1]
    for member in ("payload", "payloadType", "signatures", "keyid", "sig"):
        for value in VALUES:
            envelope = json.loads(seal("mirror", PAYLOADS[0], [keys[0]]))
            holder = envelope if member in envelope else envelope["signatures"][0]
            holder[member] = value
            result = attempt(json.dumps(envelope).encode(), "mirror", trusted)
            expected = PAYLOADS[0] if (member, value) == ("keyid", "") else None
            assert result == expected, (member, value)
        holder.pop(member)
        result = attempt(json.dumps(envelope).encode(), "mirror", trusted)
        assert result == (PAYLOADS[0] if member == "keyid" else None), member
    whole = seal("mirror", PAYLOADS[0], keys)
    cut = [whole[:size] for size in range(whole.rindex(b"}") + 1)]
    long = (b"[" * 100_000, b'{"a":' * 100_000, b"1" * 5000, b" " * (5 << 20))
    for text in (b"\xff", b"null", *long, *cut):
        assert attempt(text, "mirror", trusted) is None, text[-9:]


OWN = b'{"name":"a","generation":"%064d"}' % 0
#: What is stated about it.
RIGHT = {
    "generation": "0" * 64,
    "manifest_sha256": hashlib.sha256(OWN).hexdigest(),
    "name": "a",
    "serial": 1,
}
#: Other manifests, and texts that are none.
OTHERS = (OWN + b" ", b"", b"[]", b"null", b"\xff", b'{"name":"a"}', b'{"name":1,"generation":2}')


@pytest.mark.parametrize("manifest", OTHERS)
def test_a_statement_beside_another_manifest(keys: list[PrivateKey], manifest: bytes) -> None:
    """Even one with a right digest and a right signature."""
    digest = hashlib.sha256(manifest).hexdigest()
    forged = canonical(RIGHT | {"manifest_sha256": digest, "name": "b"})
    for trusted in ([keys[0].public], None):
        assert read_statement(signed_statement(OWN, keys[:1]), OWN, trusted, "x").name == "a"
        for text in (signed_statement(OWN, keys[:1]), seal("dataset", forged, keys[:1])):
            with pytest.raises(DatasetError, match="x: signs another manifest"):
                read_statement(text, manifest, trusted, "x")


#: Values of the members of a statement that are right, and wrong ones.
MEMBERS: dict[str, tuple[tuple[Any, ...], tuple[Any, ...]]] = {
    "serial": ((1, (1 << 63) - 1), (0, -1, 1 << 63, True, 1.0, "1", None)),
    "name": (("", "é"), (1, None, [])),
    "generation": (("f" * 64,), ("F" * 64, "0" * 63, 0, None)),
    "manifest_sha256": (("f" * 64,), ("F" * 64, "0" * 63, 0, None)),
    "more": ((), (1,)),
}


def test_a_statement_has_one_form() -> None:
    """The same object in other words: the serial that a reader finds depends on the reader."""
    text = canonical(RIGHT)
    wrong = [
        b"[" * 40_000,
        b"",
        b'"\\ud800"',
        b"[]",
        b"{}",
        json.dumps(RIGHT).encode(),
        text + b"\n",
    ]
    wrong += [text[:-2] + b',\n "serial": 1\n}\n']
    for name, (right_values, wrong_values) in MEMBERS.items():
        for value in right_values:
            statement = RIGHT | {name: value}
            assert serial_of(seal("dataset", canonical(statement), []), "x") == statement["serial"]
        wrong += [canonical(RIGHT | {name: value}) for value in wrong_values]
    for payload in wrong:
        with pytest.raises(DatasetError, match="signs no statement about a dataset"):
            serial_of(seal("dataset", payload, []), "x")
