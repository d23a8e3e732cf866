"""The index of a mirror: what is written is read; anything else is refused in one line."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from geolookup import DatasetError
from tests.internals.mirrors import KIND, File, Index, IndexEntry, index_text, read_index
from tests.internals.signing import seal

A, B, C, DIGEST = "a" * 64, "b" * 64, "c" * 64, "d" * 64
ARCHIVE = File(f"archives/{A}.0123456789abcdef.tar.zst", 23_000_000, DIGEST)
NOW = IndexEntry(A, "2026-11-23T10:00:00Z", ARCHIVE, signature=None)
GONE = IndexEntry(C, "2026-11-22T10:00:00Z", None, signature="{}")
INDEX = Index("acme", 7, "2026-11-23T10:00:01Z", A, (NOW, GONE))


def read(text: bytes) -> Index:
    return read_index(text, None, "index.json")


def payload_of(index: Index) -> dict[str, Any]:
    stated: dict[str, Any] = json.loads(
        base64.b64decode(json.loads(index_text(index, []))["payload"])
    )
    return stated


def sealed_payload(stated: object) -> bytes:
    return seal(KIND, json.dumps(stated).encode(), [])


def many(count: int) -> list[dict[str, Any]]:
    now, gone = payload_of(INDEX)["generations"]
    return [now, *({**gone, "generation": f"{number:064x}"} for number in range(count - 1))]


#: Values that a member must not have, by its place; Ellipsis: it is missing.
WRONG: dict[tuple[str | int, ...], tuple[object, ...]] = {
    ("format",): ("geolookup-store", ...),
    ("format_version",): (True,),
    ("expires_at",): (..., "2026-02-30T10:00:00Z"),
    ("published_at",): ("2026-11-23 10:00:00",),
    ("serial",): (0, True, 1 << 63),
    ("current",): (B, C),  # not listed, and withdrawn
    ("name",): ("n" * ((64 << 10) + 1), "\ud800"),
    ("generations", 0, "generation"): ("../" + A[3:], A.upper(), C),  # the last one stands twice
    ("generations", 0, "archive"): (None, ...),
    ("generations", 0, "archive", "sha256"): ("x", ["d"] * 64),
    ("generations", 0, "signature"): (1, ...),
    ("generations", 1, "generation"): ("x",),
}


PATHS = (
    *("", "..", "/", "archives/../x", "archives//x", "archives/", "/etc/passwd", "C:x", "//x"),
    *("archives\\x", "archives/.lock", "archives/x?y", "archives/%2e%2e", "https://example.org/x"),
    *("archives/é", "x" * 256, "/".join("x" * 9)),
)
LARGEST = {"path": "/".join(["x" * 255] * 8), "bytes": (64 << 30) - 1}


def test_wrong_members_are_refused() -> None:
    """In one line; what is no index of any version has no version in it."""
    archive: tuple[str | int, ...] = ("generations", 0, "archive")
    cases = [(member, value) for member in WRONG for value in WRONG[member]]
    cases += [((*archive, "path"), path) for path in PATHS]
    cases += [((*archive, "bytes"), size) for size in (0, -1, 64 << 30, 1.0, True, "1", None)]
    cases += [(("generations",), many(1001))]
    for (*outer, last), value in cases:
        stated = payload_of(INDEX)
        at: Any = stated
        for key in outer:
            at = at[key]
        at[last] = value
        if value is ...:
            del at[last]
        with pytest.raises(DatasetError) as caught:
            read(sealed_payload(stated))
        said = str(caught.value)
        assert said.startswith("index.json: not the index of a mirror; "), (outer, last, value)
        assert "\n" not in said


def test_what_is_in_an_index() -> None:
    assert (INDEX.now, INDEX.withdrawn, INDEX.files) == (NOW, frozenset({C}), (ARCHIVE,))
    # Further members are for later versions; another version is named.
    assert read(sealed_payload({**payload_of(INDEX), "region": "eu"})) == INDEX
    for version in (1, 3):  # an earlier one, with packs and deltas, and a later one
        with pytest.raises(DatasetError, match=f"version {version}"):
            read(sealed_payload({**payload_of(INDEX), "format_version": version}))
    with pytest.raises(DatasetError, match="not a signed document"):
        read(seal("dataset", json.dumps(payload_of(INDEX)).encode(), []))
    stated = payload_of(INDEX)  # the largest members
    stated |= {"name": "n" * (64 << 10), "serial": (1 << 63) - 1, "generations": many(1000)}
    stated["generations"][0]["archive"].update(LARGEST)
    index = read(sealed_payload(stated))
    assert index.now.archive == File(sha256=DIGEST, **LARGEST)  # type: ignore[arg-type]
    assert (len(index.name), index.serial) == (64 << 10, (1 << 63) - 1)
