"""A store with trusted keys follows a signed mirror, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from geolookup import DatasetError
from geolookup.mirrors.index import INDEX, written
from geolookup.mirrors.write import mirror
from geolookup.signing.keys import read_private, read_public
from geolookup.signing.statement import serial_in
from geolookup.store.generations import generations, rollback
from geolookup.store.signatures import latest_serial
from geolookup.store.trusted import distrust
from tests.cli.program import run
from tests.mirrors.following import Edge, content_of
from tests.signing.keys import public, public_keys
from tests.skips import needs
from tests.store.numbered import id_of

pytestmark = needs("cryptography")


def test_an_index_without_a_trusted_signature_is_refused(trusting: Edge, keys: list[Path]) -> None:
    trusting.publish(2, keys=keys[:1])
    index = replace(trusting.index(), serial=trusting.index().serial + 1)
    before = content_of(trusting.store)
    for signing, problem in (([], "not signed"), (keys[1:2], "signed by no trusted key")):
        text = written(index, [read_private(key) for key in signing])
        (trusting.folder / INDEX).write_bytes(text)
        with pytest.raises(DatasetError, match=problem):
            trusting.poll()
        assert content_of(trusting.store) == before
        assert trusting.current == id_of(1)


def test_an_index_that_was_signed_before_is_refused(trusting: Edge, keys: list[Path]) -> None:
    old = (trusting.folder / INDEX).read_bytes()
    wanted = trusting.publish(2, keys=keys[:1])
    trusting.poll()
    (trusting.folder / INDEX).write_bytes(old)
    for remembered in (True, False):
        if not remembered:
            (trusting.store / "follow.json").unlink()
        with pytest.raises(DatasetError, match="older than what was accepted"):
            trusting.poll()
        assert trusting.current == wanted


def test_a_signed_rollback_brings_the_newer_signature(trusting: Edge, keys: list[Path]) -> None:
    before = id_of(1)
    bad = trusting.publish(2, keys=keys[:1])
    trusting.poll()
    serial = latest_serial(trusting.store)
    rollback(trusting.origin, sign=keys[0])
    mirror(trusting.origin, trusting.folder, sign=keys[0])
    polled = trusting.poll()
    assert (polled.state, polled.kind, polled.generation) == ("updated", "stored", before)
    assert trusting.current == before
    assert serial_in(trusting.store / "generations" / before) > serial
    assert [each.generation for each in generations(trusting.store) if each.withdrawn] == [bad]


def test_keys_are_rotated(trusting: Edge, keys: list[Path]) -> None:
    trusting.trust(public_keys()[1:2])
    trusting.publish(2, keys=keys[:2])
    trusting.poll()
    distrust(trusting.store, read_public(public(keys[0])).id)
    wanted = trusting.publish(3, keys=keys[1:2])
    assert trusting.poll().state == "updated"
    assert trusting.current == wanted
    assert serial_in(trusting.store / "generations" / wanted) > 0


@pytest.mark.long
def test_the_first_start_trusts_a_key_the_next_one_brings_none_back(
    edge: Edge, keys: list[Path]
) -> None:
    wanted = edge.publish(0, keys=keys[:1])
    options = ("follow", edge.site.url, "--store", str(edge.store), "--once")
    done = run(*options, "--trust", str(public(keys[0])))
    assert done.returncode == 0, done.stderr
    assert edge.current == wanted
    assert run(*options, "--trust", str(public(keys[0]))).returncode == 0
    done = run(*options, "--trust", str(public(keys[1])))
    assert done.returncode == 2
    assert "trusts other keys" in done.stderr
    assert run(*options, "--trust", str(keys[0])).returncode == 2
    assert run(*options, "--trust", "/nowhere").stderr.count("\n") == 1
